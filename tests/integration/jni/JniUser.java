// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Native code that creates and deletes references and is in critical sections. For each line "COMMAND [NUMBER]" it does
 * something and prints what it has done, then "done"; at the end of the input it ends.
 */
public final class JniUser {
	static native long keep(Object o);
	static native long keepWeak(Object o);
	static native void drop(long ref);
	static native void dropWeak(long ref);
	static native void churn(Object o, int pairs);
	static native void critical(byte[] array, String string, long ns);
	static native void criticalUntilStill(byte[] progress, int number);
	static native int locals(Object[] array, int count, boolean delete);
	static native long table();
	static native String cover(boolean on);

	private static final List<Object> reachable = new ArrayList<>();
	private static final List<Long> refs = new ArrayList<>();

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));

		System.load(args[0]);
		System.out.println("ready");
		for (String line = in.readLine(); line != null; line = in.readLine()) {
			String[] words = line.split(" ");

			run(words[0], words.length > 1 ? Integer.parseInt(words[1]) : 1);
			System.out.println("done " + line);
		}
	}

	private static void run(String command, int count) throws Exception {
		switch (command) {
		case "leak":
			for (int i = 0; i < count; i++)
				leak();
			break;
		case "free":
			for (int i = 0; i < count; i++)
				drop(refs.remove(refs.size() - 1));
			break;
		case "weak":
			for (int i = 0; i < count; i++)
				leakWeak();
			System.gc();
			break;
		case "threads":
			inThreads(count);
			break;
		case "critical":
			for (int i = 0; i < count; i++)
				critical(new byte[64], "text", 10_000_000);
			for (int i = 0; i < 1000; i++)
				critical(new byte[64], "text", 0);
			break;
		case "hold":
			holdUp(count);
			break;
		case "locals":
		case "deleted":
			flood(count, command.equals("deleted"));
			break;
		case "cover":
			System.out.println("COVER " + cover(count != 0));
			break;
		case "table":
			System.out.println("TABLE " + Long.toHexString(table()));
			break;
		}
	}

	private static void leak() {
		refs.add(keep(new String[0]));
	}

	private static void leakWeak() {
		Object o = new int[1];

		reachable.add(o);
		keepWeak(o);
		keepWeak(new long[1]); /* goes with the next collection */
	}

	private static void inThreads(int pairs) throws InterruptedException {
		Thread[] threads = new Thread[4];

		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> churn(reachable, pairs));
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
	}

	static volatile boolean held;

	/** A thread that allocates needs a collection while this one is in a critical section, which lasts until then. */
	private static void holdUp(int times) throws InterruptedException {
		for (int i = 0; i < times; i++) {
			byte[] progress = new byte[64];
			CountDownLatch begun = new CountDownLatch(1);
			Thread allocates = new Thread(() -> {
				begun.countDown();
				while (held) {
					garbage = new byte[1 << 16];
					progress[0] = (byte) (progress[0] % 100 + 1);
				}
			}, "allocates-" + i);

			held = true;
			allocates.start();
			begun.await();
			criticalUntilStill(progress, i);
			held = false;
			allocates.join();
		}
	}

	static volatile byte[] garbage;

	private static int flood(int count, boolean delete) {
		Object[] array = new Object[1];

		array[0] = array;
		return locals(array, count, delete);
	}
}
