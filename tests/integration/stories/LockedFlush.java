// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A lock held during I/O: LockedFlush FILE. Four threads add entries to a journal. The thread that adds the tenth one
 * flushes the journal to the disk before it leaves the monitor: the others wait for a disk that they do not use.
 */
public final class LockedFlush {
	static final class Journal {
		private final FileChannel file;
		private final ByteBuffer entries = ByteBuffer.allocateDirect(1 << 20);
		private int waiting;

		Journal(Path path) throws IOException {
			file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
		}

		synchronized void add(long entry) throws IOException {
			for (int i = 0; i < 8192; i++)
				entries.putLong(entry);
			if (++waiting == 10)
				flush();
		}

		private void flush() throws IOException {
			entries.flip();
			while (entries.hasRemaining())
				file.write(entries);
			file.force(true);
			entries.clear();
			waiting = 0;
		}
	}

	private static void handleRequests(Journal journal) {
		long end = System.nanoTime() + 60_000_000_000L, seed = 1;

		try {
			while (System.nanoTime() < end) {
				for (int i = 0; i < 100_000; i++)
					seed = seed * 6364136223846793005L + 1442695040888963407L;
				journal.add(seed);
			}
		} catch (IOException e) {
			throw new java.io.UncheckedIOException(e);
		}
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		Journal journal = new Journal(Path.of(args[0]));
		Thread[] threads = new Thread[4];

		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> handleRequests(journal), "request-" + i);
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
	}
}
