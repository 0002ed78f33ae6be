// SPDX-License-Identifier: Apache-2.0
/*
 * Six requests, one after the other: the fourth waits for a lock whose owner sleeps, the fifth collects garbage, the last one
 * fails.
 */
public class Requests {
	private static final Object LOCK = new Object();
	static volatile long sink;
	private static volatile boolean held;

	static void busy(long ms)
	{
		for (long end = System.nanoTime() + ms * 1000000; System.nanoTime() < end;)
			sink++;
	}

	static void request(int number, String what) throws Exception
	{
		busy(3);
		if (what.equals("lock"))
			synchronized (LOCK) {
				inner();
			}
		if (what.equals("gc"))
			System.gc();
		if (what.equals("fail"))
			throw new java.io.IOException("on purpose");
	}

	/* A request that is a part of another one. */
	private static void inner() throws Exception
	{
		request(0, "inner");
	}

	private static void hold(Thread until)
	{
		try {
			synchronized (LOCK) {
				held = true;
				while (until.getState() != Thread.State.BLOCKED)
					Thread.sleep(1);
				Thread.sleep(150);
			}
		} catch (InterruptedException e) {
			sink++;
		}
	}

	public static void main(String[] args) throws Exception
	{
		String[] all = {"plain", "plain", "plain", "lock", "gc", "fail"};
		Thread main = Thread.currentThread(), holder = new Thread(() -> hold(main), "holder");

		for (int i = 0; i < all.length; i++) {
			if (all[i].equals("lock")) {
				holder.start();
				while (!held)
					Thread.yield();
			}
			try {
				request(i + 1, all[i]);
			} catch (java.io.IOException e) {
				sink++;
			}
		}
		holder.join();
	}
}
