// SPDX-License-Identifier: Apache-2.0
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;

/** `Pages FILE NUMBER`: says "ready" and waits for a line. Then it writes to NUMBER pages of a mapped FILE. */
class Pages {
    static final int PAGE = 4096;

    static void touch(MappedByteBuffer file, int pages) {
        for (int i = 0; i < pages; i++) {
            file.put(i * PAGE, (byte) 1);
        }
    }

    public static void main(String[] args) throws Exception {
        int pages = Integer.parseInt(args[1]);

        System.out.println("ready");
        if (System.in.read() < 0) {
            return;
        }
        try (FileChannel file = FileChannel.open(Paths.get(args[0]), StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            touch(file.map(FileChannel.MapMode.READ_WRITE, 0, (long) pages * PAGE), pages);
        }
    }
}
