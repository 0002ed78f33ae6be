// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/*
 * Virtual threads that leave their carriers in known methods for times that they measure themselves.
 *
 * VParks COUNT [wait]: threads "kK-n" are off twice, in the method offK; K: 0 sleeps, 1 parks for a time, 2 is unparked
 * by a platform thread, 3 waits for a lock of java.util.concurrent, 4 for a
 * monitor (unmounted from JDK 24 on, before that pinned). "yield-n" yields and is never off otherwise,
 * "spin-n" is mounted all its life. "stuck-n" parks for ever. Prints "off NAME ID NS NS", "yield NAME ID",
 * "spin NAME ID NS", "monitor NAME ID NS" and "stuck NAME ID", and exits. `wait`: when the threads stuck-n are parked, it prints "ready" and
 * waits for a line; then it unparks half of them. Needs JDK 21.
 */
public class VParks {
	static final int STUCK = 10, YIELDS = 1000;
	static final Object monitor = new Object();
	static final ReentrantLock lock = new ReentrantLock();
	static volatile boolean[] go;
	static volatile long sink;

	static void off0(int n) throws Exception { Thread.sleep(20 + n % 20); }

	static void off1(int n) { LockSupport.parkNanos((20 + n % 20) * 1_000_000L); }

	static void off2(int n) {
		while (!go[n])
			LockSupport.park();
	}

	static void off3(int n) {
		lock.lock();
		lock.unlock();
	}

	static void off4(int n) {
		synchronized (monitor) {
			sink++;
		}
	}

	static void off(int k, int n) throws Exception {
		switch (k) {
		case 0: off0(n); break;
		case 1: off1(n); break;
		case 2: off2(n); break;
		default: off3(n);
		}
	}

	static void spin(long ns) {
		for (long end = System.nanoTime() + ns; System.nanoTime() < end;)
			sink++;
	}

	static void stuck() {
		while (true)
			LockSupport.park();
	}

	static Thread[] startStuck() throws Exception {
		Thread[] threads = new Thread[STUCK];
		for (int i = 0; i < STUCK; i++)
			threads[i] = Thread.ofVirtual().name("stuck-" + i).start(VParks::stuck);
		for (Thread t : threads) {
			while (t.getState() != Thread.State.WAITING)
				Thread.sleep(1);
			System.out.println("stuck " + t.getName() + " " + t.threadId());
		}
		return threads;
	}

	/* Two times off for each thread; the lock is held and the permits are withheld while they begin. */
	static void measured(int count) throws Exception {
		long[][] ns = new long[2][count];
		Thread[] threads = new Thread[count];
		CountDownLatch[] done = {new CountDownLatch(count), new CountDownLatch(count)};
		CountDownLatch second = new CountDownLatch(1);

		go = new boolean[count];
		lock.lock();
		for (int i = 0; i < count; i++) {
			int n = i, k = i % 4;
			threads[n] = Thread.ofVirtual().name("k" + k + "-" + n).unstarted(() -> {
				try {
					for (int round = 0; round < 2; round++) {
						long begin = System.nanoTime();
						off(k, n);
						ns[round][n] = System.nanoTime() - begin;
						done[round].countDown();
						if (round == 0)
							second.await();
					}
				} catch (Exception e) {
					throw new RuntimeException(e);
				}
			});
			threads[n].start();
		}
		release(threads);
		done[0].await();
		go = new boolean[count];
		lock.lock();
		second.countDown();
		release(threads);
		for (Thread t : threads)
			t.join();
		for (int n = 0; n < count; n++)
			System.out.println("off " + threads[n].getName() + " " + threads[n].threadId() + " " + ns[0][n] + " " +
					ns[1][n]);
	}

	static void release(Thread[] threads) throws Exception {
		Thread.sleep(100);
		for (int n = 2; n < threads.length; n += 4) {
			go[n] = true;
			LockSupport.unpark(threads[n]);
		}
		lock.unlock();
	}

	/* Fewer threads than carriers, so that each comes to the monitor even if it pins its carrier there. */
	static void monitors() throws Exception {
		Thread t;
		long[] ns = new long[1];
		synchronized (monitor) {
			t = Thread.ofVirtual().name("k4-0").start(() -> {
				long begin = System.nanoTime();
				off4(0);
				ns[0] = System.nanoTime() - begin;
			});
			while (t.getState() != Thread.State.BLOCKED)
				Thread.sleep(1);
			Thread.sleep(100);
		}
		t.join();
		System.out.println("monitor k4-0 " + t.threadId() + " " + ns[0]);
	}

	static void mounted() throws Exception {
		Thread[] threads = new Thread[4];
		long[] ns = new long[4];
		for (int i = 0; i < 4; i++) {
			int n = i;
			threads[i] = Thread.ofVirtual().name((i < 2 ? "yield-" : "spin-") + i).start(() -> {
				long begin = System.nanoTime();
				for (int j = 0; n < 2 && j < YIELDS; j++)
					Thread.yield();
				if (n >= 2)
					spin(50_000_000);
				ns[n] = System.nanoTime() - begin;
			});
		}
		for (int i = 0; i < 4; i++) {
			threads[i].join();
			System.out.println((i < 2 ? "yield " : "spin ") + threads[i].getName() + " " + threads[i].threadId() +
					" " + ns[i]);
		}
	}

	public static void main(String[] args) throws Exception {
		Thread[] stuck = startStuck();
		if (args.length > 1) {
			System.out.println("ready");
			System.in.read();
			for (int i = 0; i < STUCK / 2; i++)
				LockSupport.unpark(stuck[i]);
			Thread.sleep(50);
		}
		measured(Integer.parseInt(args[0]));
		monitors();
		mounted();
		System.out.println("end");
		if (args.length > 1)
			System.in.read();
		System.exit(0);
	}
}
