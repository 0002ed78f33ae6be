// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that block for times that they measure themselves, each in its own way. For each line of input: "ready" at
 * first, then "blocked NAME NS" for each thread, and "done".
 */
public class Blocked {
	static final int TURNS = 15;
	static final long NAP_MS = 20;

	static final LinkedBlockingQueue<Integer> queue = new LinkedBlockingQueue<>();
	static final ReentrantLock lock = new ReentrantLock();
	static final Object monitor = new Object();
	static final CyclicBarrier locked = new CyclicBarrier(2), entered = new CyclicBarrier(2);
	static final StringBuffer out = new StringBuffer();

	interface Body {
		long run() throws InterruptedException, BrokenBarrierException;
	}

	static Thread thread(String name, Body body) {
		Thread t = new Thread(() -> {
			try {
				out.append("blocked " + name + " " + body.run() + "\n");
			} catch (InterruptedException | BrokenBarrierException e) {
				e.printStackTrace();
				System.exit(1);
			}
		}, name);
		t.start();
		return t;
	}

	static long naps() throws InterruptedException {
		long sum = 0;
		for (int i = 0; i < TURNS; i++) {
			long start = System.nanoTime();
			Thread.sleep(NAP_MS);
			sum += System.nanoTime() - start;
		}
		return sum;
	}

	static long parks() {
		long sum = 0;
		for (int i = 0; i < TURNS; i++) {
			long start = System.nanoTime();
			LockSupport.parkNanos(NAP_MS * 1000000);
			sum += System.nanoTime() - start;
		}
		return sum;
	}

	static long takes() throws InterruptedException {
		long sum = 0;
		for (int i = 0; i < TURNS; i++) {
			long start = System.nanoTime();
			queue.take();
			sum += System.nanoTime() - start;
		}
		return sum;
	}

	static void giveAway(int i) {
		queue.add(i);
	}

	static long gives() throws InterruptedException {
		long sum = 0;
		for (int i = 0; i < TURNS; i++) {
			long start = System.nanoTime();
			Thread.sleep(NAP_MS);
			sum += System.nanoTime() - start;
			giveAway(i);
		}
		return sum;
	}

	static void holdLock() throws InterruptedException, BrokenBarrierException {
		lock.lock();
		locked.await();
		while (!lock.hasQueuedThreads())
			Thread.sleep(1);
		Thread.sleep(NAP_MS);
		lock.unlock();
	}

	static long holds() throws InterruptedException, BrokenBarrierException {
		for (int i = 0; i < TURNS; i++) {
			holdLock();
			entered.await();
		}
		return 0;
	}

	/* Only what is spent for the lock counts, and is printed. */
	static long locks() throws InterruptedException, BrokenBarrierException {
		long sum = 0;
		for (int i = 0; i < TURNS; i++) {
			locked.await();
			long start = System.nanoTime();
			lock.lock();
			sum += System.nanoTime() - start;
			lock.unlock();
			entered.await();
		}
		return sum;
	}

	static void run() throws InterruptedException {
		Thread[] all = {thread("napper", Blocked::naps), thread("parker", Blocked::parks),
			thread("taker", Blocked::takes), thread("giver", Blocked::gives),
			thread("holder", Blocked::holds), thread("locker", Blocked::locks)};
		for (Thread t : all)
			t.join();
		System.out.print(out);
		out.setLength(0);
		System.out.println("done");
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		System.out.println("ready");
		while (in.readLine() != null)
			run();
	}
}
