import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.CountDownLatch;

/*
 * Holds much in five ways: in a static map, in a thread-local variable, in a local variable, in a queue between threads, and
 * by a class of a loader that only a thread's context has. Besides, softly. Argument: the directory of the classes.
 */
public class Holders {
	static class Entry {
		final byte[] bytes;

		Entry(int size) {
			bytes = new byte[size];
		}
	}

	static class Cache {
		static final Map<Integer, Entry> map = new HashMap<>();
	}

	/* Of another loader. */
	public static class Leaked {
		public static byte[] kept = new byte[3_000_000];
	}

	static class Local {
		byte[] bytes = new byte[4_000_000];
	}

	static final ThreadLocal<Object> local = new ThreadLocal<>();
	static final LinkedBlockingQueue<byte[]> queue = new LinkedBlockingQueue<>();
	static final CountDownLatch started = new CountDownLatch(3);
	static java.lang.ref.SoftReference<Object> soft;

	static void park() {
		started.countDown();
		try {
			Thread.sleep(Long.MAX_VALUE);
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
		}
	}

	static void holdLocal() {
		Local held = new Local();

		park();
		System.out.println(held);
	}

	static void start(String name, Runnable run) {
		Thread thread = new Thread(run, name);

		thread.setDaemon(true);
		thread.start();
	}

	static void holdThreadLocal() {
		local.set(new byte[2_500_000]);
		park();
	}

	static ClassLoader otherLoader(String classes) throws Exception {
		ClassLoader loader = new URLClassLoader(new URL[] {new File(classes).toURI().toURL()}, null);

		loader.loadClass("Holders$Leaked").getConstructor().newInstance();
		return loader;
	}

	static void holdLoader(String classes) {
		try {
			Thread.currentThread().setContextClassLoader(otherLoader(classes));
		} catch (Exception e) {
			throw new IllegalStateException(e);
		}
		park();
	}

	public static void main(String[] args) throws Exception {
		List<Object> referred = new ArrayList<>();

		for (int i = 0; i < 5000; i++)
			Cache.map.put(i, new Entry(1000));
		for (int i = 0; i < 100; i++)
			queue.add(new byte[35_000]);
		start("has-local", Holders::holdLocal);
		start("has-thread-local", Holders::holdThreadLocal);
		start("has-loader", () -> holdLoader(args[0]));
		started.await();
		referred.add(new Entry(77_777));
		soft = new java.lang.ref.SoftReference<>(referred.get(0));
		System.out.println("ready");
		System.in.read();
		referred.clear();
		System.in.read();
		System.out.println(referred);
	}
}
