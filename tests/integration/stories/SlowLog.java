// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A synchronous log: SlowLog FILE. Every request logs what it has got, 256 KiB, and the file is open with O_DSYNC, so
 * the request waits for the disk. The file begins again after 256 requests.
 */
public final class SlowLog {
	private static final class Disk extends OutputStream {
		private final FileChannel file;

		Disk(Path path) throws IOException {
			file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
				StandardOpenOption.DSYNC);
		}

		@Override
		public void write(int b) throws IOException {
			write(new byte[] {(byte) b}, 0, 1);
		}

		@Override
		public void write(byte[] bytes, int from, int length) throws IOException {
			if (file.position() > 64 << 20)
				file.position(0);
			file.write(ByteBuffer.wrap(bytes, from, length));
		}
	}

	private static final String REQUEST = new String(new char[256 << 10]).replace('\0', 'x');

	private static void log(PrintStream to, String line) {
		to.println(line + REQUEST);
	}

	private static void handleRequest(PrintStream to, int number) {
		double x = number;

		for (int i = 0; i < 50_000; i++)
			x = x * 0.999 + i;
		log(to, "request " + number + " gave " + x);
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		PrintStream to = new PrintStream(new Disk(Path.of(args[0])), true);
		long end = System.nanoTime() + 60_000_000_000L;

		for (int i = 0; System.nanoTime() < end; i++)
			handleRequest(to, i);
	}
}
