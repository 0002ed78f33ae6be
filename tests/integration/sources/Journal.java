// SPDX-License-Identifier: Apache-2.0
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;

/**
 * Says "ready" and waits for a line. Then it appends records to a file in one method, and brings them to the disk in
 * another: `Journal FILE RECORDS SYNCS`.
 */
class Journal {
    static void append(FileChannel file, int records) throws Exception {
        ByteBuffer record = ByteBuffer.allocateDirect(1000);

        for (int i = 0; i < records; i++) {
            record.clear();
            file.write(record);
        }
    }

    static void flush(FileChannel file, int syncs) throws Exception {
        for (int i = 0; i < syncs; i++) {
            file.force(false);
        }
    }

    public static void main(String[] args) throws Exception {
        Path path = Paths.get(args[0]);

        System.out.println("ready");
        if (System.in.read() < 0) {
            return;
        }
        try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            append(file, Integer.parseInt(args[1]));
            flush(file, Integer.parseInt(args[2]));
        }
    }
}
