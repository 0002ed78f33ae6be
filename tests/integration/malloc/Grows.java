import java.io.File;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/*
 * Grows in five ways, each by a known number of bytes or more, which it prints: in the Java heap, by direct buffers, by classes, by
 * stacks of threads, and by a mapped file.
 */
public class Grows {
	static final int HEAP = 24 << 20, DIRECT = 16 << 20, FILE = 8 << 20, LOADERS = 1500, THREADS = 32, STACK = 256 << 10;
	static final List<Object> kept = new ArrayList<>();

	public static class Loaded {
		public static long sum(long a, long b) {
			return a * 31 + b;
		}
	}

	static class Loader extends ClassLoader {
		Class<?> define(byte[] bytes) {
			return defineClass(Loaded.class.getName(), bytes, 0, bytes.length);
		}
	}

	static void growHeap() {
		for (int i = 0; i < HEAP; i += 100_000)
			kept.add(new byte[100_000]);
	}

	static void growDirect() {
		ByteBuffer buffer = ByteBuffer.allocateDirect(DIRECT);

		while (buffer.hasRemaining())
			buffer.put((byte) 1);
		kept.add(buffer);
	}

	static void growClasses() throws Exception {
		try (InputStream in = Grows.class.getResourceAsStream("Grows$Loaded.class")) {
			byte[] bytes = in.readAllBytes();

			for (int i = 0; i < LOADERS; i++)
				kept.add(new Loader().define(bytes).getConstructor().newInstance());
		}
	}

	/* Each call has 16 words of its own or more. */
	static long descend(int calls, long a, long b, long c, long d, long e, long f, long g, long h) {
		if (calls == 0)
			return a + b + c + d + e + f + g + h;
		return descend(calls - 1, b, c, d, e, f, g, h, a) + a * b + c * d + e * f + g * h;
	}

	static void growStacks() throws Exception {
		CountDownLatch deep = new CountDownLatch(THREADS);

		for (int i = 0; i < THREADS; i++) {
			Thread thread = new Thread(null, () -> {
				descend(STACK / 128, 1, 2, 3, 4, 5, 6, 7, 8);
				deep.countDown();
				try {
					Thread.sleep(Long.MAX_VALUE);
				} catch (InterruptedException e) {
					Thread.currentThread().interrupt();
				}
			}, "deep-" + i, 4 << 20);

			thread.setDaemon(true);
			thread.start();
		}
		deep.await();
	}

	static void growFile(String path) throws Exception {
		try (RandomAccessFile file = new RandomAccessFile(new File(path), "rw")) {
			file.setLength(FILE);
			MappedByteBuffer buffer = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, FILE);

			for (int i = 0; i < FILE; i += 4096)
				buffer.put(i, (byte) 1);
			kept.add(buffer);
		}
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		System.in.read();
		growHeap();
		growDirect();
		growClasses();
		growStacks();
		growFile(args[0]);
		System.out.println("grown heap " + HEAP + " direct " + DIRECT + " stacks " + (long) THREADS * STACK + " file " + FILE);
		System.in.read();
	}
}
