// SPDX-License-Identifier: Apache-2.0
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/*
 * Virtual threads that are parked many times in a call of a timed method, and so change their carriers, and calls that
 * are made in another thread than the one that asks for them. Prints how long each took: CALL THREAD NS.
 */
public class VCalls {
	static volatile long sink;

	static void served(String name)
	{
		for (int i = 0; i < 10; i++) {
			LockSupport.parkNanos(2000000);
			for (int k = 0; k < 10000; k++)
				sink++;
		}
	}

	private static void timed(String name)
	{
		long start = System.nanoTime(), ns;

		served(name);
		ns = System.nanoTime() - start;
		synchronized (System.out) {
			System.out.printf(Locale.ROOT, "CALL %s %d%n", name, ns);
		}
	}

	public static void main(String[] args) throws Exception
	{
		Thread[] all = new Thread[40];

		for (int i = 0; i < all.length; i++) {
			String name = "call-" + i;

			all[i] = Thread.ofVirtual().name(name).start(() -> timed(name));
		}
		for (Thread t : all)
			t.join();
		CompletableFuture.runAsync(() -> timed(Thread.currentThread().getName())).join();
	}
}
