// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/*
 * Virtual threads in known states, and deadlocks among them and with a thread of the VM's. Arguments: the number of
 * threads that an executor starts, all of which wait for one queue; "monitors": a deadlock of two monitors, too.
 */
public class Virtual {
	static volatile boolean goesOn = true;

	static void await(CountDownLatch latch) {
		try {
			latch.await();
		} catch (InterruptedException e) {
			throw new RuntimeException(e);
		}
	}

	/* Threads that run without end keep the carriers from all that do not wait yet. */
	static void awaitQueued(ReentrantLock... locks) throws InterruptedException {
		for (ReentrantLock lock : locks)
			while (!lock.hasQueuedThreads())
				Thread.sleep(1);
	}

	static void lockBoth(ReentrantLock first, ReentrantLock second, CountDownLatch both) {
		first.lock();
		both.countDown();
		await(both);
		second.lock();
	}

	static void enterBoth(Object first, Object second, CountDownLatch both) {
		synchronized (first) {
			both.countDown();
			await(both);
			synchronized (second) {
				throw new AssertionError();
			}
		}
	}

	static void start(String name, Runnable work) {
		Thread.ofVirtual().name(name).start(work);
	}

	static void deep(int depth) {
		if (depth > 0)
			deep(depth - 1);
		else
			while (goesOn)
				LockSupport.park();
	}

	static void sleep() {
		try {
			Thread.sleep(1000000);
		} catch (InterruptedException e) {
			throw new RuntimeException(e);
		}
	}

	static void waitForNotify(Object on) {
		synchronized (on) {
			try {
				while (goesOn)
					on.wait();
			} catch (InterruptedException e) {
				throw new RuntimeException(e);
			}
		}
	}

	static void run() {
		while (goesOn)
			Thread.onSpinWait();
	}

	public static void main(String[] args) throws Exception {
		int many = Integer.parseInt(args[0]);
		ReentrantLock a = new ReentrantLock(), b = new ReentrantLock(), c = new ReentrantLock(), d = new ReentrantLock();
		CountDownLatch locks = new CountDownLatch(2), mixed = new CountDownLatch(2), monitors = new CountDownLatch(2);
		Object m = new Object(), n = new Object();
		ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
		LinkedBlockingQueue<String> queue = new LinkedBlockingQueue<>();
		Thread platform = new Thread(() -> lockBoth(d, c, mixed), "mixed-2");

		platform.setDaemon(true);
		platform.start();
		start("mixed-1", () -> lockBoth(c, d, mixed));
		start("lock-1", () -> lockBoth(a, b, locks));
		start("lock-2", () -> lockBoth(b, a, locks));
		start("deep", () -> deep(200));
		start("sleeping", Virtual::sleep);
		Thread.ofVirtual().name("unstarted").unstarted(Virtual::run);
		for (int i = 0; i < many; i++)
			executor.submit(() -> queue.take());
		Thread.sleep(100);
		start("waiting", () -> waitForNotify(queue));
		if (args.length > 1) {
			start("monitor-1", () -> enterBoth(m, n, monitors));
			start("monitor-2", () -> enterBoth(n, m, monitors));
		}
		awaitQueued(a, b, c, d);
		Thread.sleep(100);
		start("running", Virtual::run);
		start("queued", Virtual::run);
		System.gc();
		System.out.println("ready");
		System.in.read();
		System.exit(0);
	}
}
