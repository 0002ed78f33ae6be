// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that block for times that they measure themselves, each in its own way: "ready", and for each line of input
 * "blocked NAME NS..." for each thread, with a figure for each time, and "end".
 */
public class Blocked {
	static final int TURNS = 15;
	static final long NAP_MS = 50;

	static final LinkedBlockingQueue<Integer> queue = new LinkedBlockingQueue<>();
	static final ReentrantLock lock = new ReentrantLock();
	static final CyclicBarrier locked = new CyclicBarrier(2), entered = new CyclicBarrier(2);
	static final StringBuffer out = new StringBuffer();

	interface Body {
		String run() throws InterruptedException, BrokenBarrierException;
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

	static String naps() throws InterruptedException {
		StringBuilder times = new StringBuilder();
		for (int i = 0; i < TURNS; i++) {
			long start = System.nanoTime();
			Thread.sleep(NAP_MS);
			times.append(System.nanoTime() - start).append(' ');
		}
		return times.toString();
	}

	static String parks() {
		StringBuilder times = new StringBuilder();
		for (int i = 0; i < TURNS; i++) {
			long start = System.nanoTime();
			LockSupport.parkNanos(NAP_MS * 1000000);
			times.append(System.nanoTime() - start).append(' ');
		}
		return times.toString();
	}

	static String takes() throws InterruptedException {
		StringBuilder times = new StringBuilder();
		for (int i = 0; i < TURNS; i++) {
			long start = System.nanoTime();
			queue.take();
			times.append(System.nanoTime() - start).append(' ');
		}
		return times.toString();
	}

	static void giveAway(int i) {
		queue.add(i);
	}

	static String gives() throws InterruptedException {
		StringBuilder times = new StringBuilder();
		for (int i = 0; i < TURNS; i++) {
			long start = System.nanoTime();
			Thread.sleep(NAP_MS);
			times.append(System.nanoTime() - start).append(' ');
			giveAway(i);
		}
		return times.toString();
	}

	static void holdLock() throws InterruptedException, BrokenBarrierException {
		lock.lock();
		locked.await();
		while (!lock.hasQueuedThreads())
			Thread.sleep(1);
		Thread.sleep(NAP_MS);
		lock.unlock();
	}

	static String holds() throws InterruptedException, BrokenBarrierException {
		for (int i = 0; i < TURNS; i++) {
			holdLock();
			entered.await();
		}
		return "";
	}

	/* Only the time that the lock takes. */
	static String locks() throws InterruptedException, BrokenBarrierException {
		StringBuilder times = new StringBuilder();
		for (int i = 0; i < TURNS; i++) {
			locked.await();
			long start = System.nanoTime();
			lock.lock();
			times.append(System.nanoTime() - start).append(' ');
			lock.unlock();
			entered.await();
		}
		return times.toString();
	}

	static void run() throws InterruptedException {
		Thread[] all = {thread("napper", Blocked::naps), thread("parker", Blocked::parks),
			thread("taker", Blocked::takes), thread("giver", Blocked::gives),
			thread("holder", Blocked::holds), thread("locker", Blocked::locks)};
		for (Thread t : all)
			t.join();
		System.out.print(out);
		out.setLength(0);
		System.out.println("end");
	}

	public static void main(String[] args) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		System.out.println("ready");
		while (in.readLine() != null)
			run();
	}
}
