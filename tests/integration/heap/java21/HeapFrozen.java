import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/*
 * Virtual threads that are parked, each with an object that only a local variable of it has, which is used afterwards. Argument: how many
 * times the method is called before, so that it is compiled, or not.
 */
public class HeapFrozen {
	static final class Held {
		final int number;
		final byte[] bytes = new byte[10_000];

		Held(int number) {
			this.number = number;
		}
	}

	static final int THREADS = 200;
	static final CountDownLatch parked = new CountDownLatch(THREADS);
	static volatile boolean parks;
	static volatile int sum;

	static void hold(int number) {
		Held held = new Held(number);

		below(number);
		sum += held.number + held.bytes.length;
	}

	static void below(int number) {
		String text = "only a thread " + number;

		if (parks) {
			parked.countDown();
			LockSupport.park();
		}
		sum += text.length();
	}

	public static void main(String[] args) throws Exception {
		List<Thread> threads = new ArrayList<>();

		for (int i = Integer.parseInt(args[0]); i > 0; i--)
			hold(i);
		parks = true;
		for (int i = 0; i < THREADS; i++) {
			int number = i;

			threads.add(Thread.ofVirtual().start(() -> hold(number)));
		}
		parked.await();
		for (Thread thread : threads)
			while (thread.getState() != Thread.State.WAITING)
				Thread.sleep(1);
		if (args.length > 1)
			System.gc();
		System.out.println("ready");
		System.in.read();
		for (Thread thread : threads)
			LockSupport.unpark(thread);
	}
}
