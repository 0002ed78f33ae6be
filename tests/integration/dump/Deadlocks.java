// SPDX-License-Identifier: Apache-2.0
import java.net.ServerSocket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/*
 * The argument: "deadlocks" makes three, of two monitors, of two ReentrantLocks, and of a monitor and a ReentrantLock;
 * "free" makes none; a number makes so many parked threads. There are always threads in known states, too.
 */
public class Deadlocks {
	static class Inner {
	}

	static class Owned {
	}

	static volatile boolean goesOn = true;

	static void start(String name, Runnable work) {
		Thread t = new Thread(work, name);

		t.setDaemon(true);
		t.start();
	}

	static void await(CountDownLatch latch) {
		try {
			latch.await();
		} catch (InterruptedException e) {
			throw new RuntimeException(e);
		}
	}

	static void reach(CountDownLatch latch) {
		latch.countDown();
		await(latch);
	}

	static void enterBoth(Object first, Object second, CountDownLatch both) {
		synchronized (first) {
			reach(both);
			synchronized (second) {
				throw new AssertionError();
			}
		}
	}

	static void lockBoth(ReentrantLock first, ReentrantLock second, CountDownLatch both) {
		first.lock();
		reach(both);
		second.lock();
	}

	static void enterThenLock(Object first, ReentrantLock second, CountDownLatch both) {
		synchronized (first) {
			reach(both);
			second.lock();
		}
	}

	static void lockThenEnter(ReentrantLock first, Object second, CountDownLatch both) {
		first.lock();
		reach(both);
		synchronized (second) {
			throw new AssertionError();
		}
	}

	static void plant() {
		Object a = new Inner(), b = new Inner(), c = new Inner();
		ReentrantLock p = new ReentrantLock(), q = new ReentrantLock(), r = new ReentrantLock();
		CountDownLatch monitors = new CountDownLatch(2), locks = new CountDownLatch(2), mixed = new CountDownLatch(2);

		start("monitor-1", () -> enterBoth(a, b, monitors));
		start("monitor-2", () -> enterBoth(b, a, monitors));
		start("lock-1", () -> lockBoth(p, q, locks));
		start("lock-2", () -> lockBoth(q, p, locks));
		start("mixed-1", () -> enterThenLock(c, r, mixed));
		start("mixed-2", () -> lockThenEnter(r, c, mixed));
	}

	static void park() {
		while (goesOn)
			LockSupport.park();
	}

	static void run() {
		long n = 0;

		while (goesOn)
			n++;
		System.out.println(n);
	}

	static void sleep() {
		try {
			while (goesOn)
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

	static void accept() {
		try (ServerSocket s = new ServerSocket(0)) {
			s.accept();
		} catch (java.io.IOException e) {
			throw new RuntimeException(e);
		}
	}

	static void awaitSignal(ReentrantLock lock) {
		lock.lock();
		try {
			while (goesOn)
				lock.newCondition().await();
		} catch (InterruptedException e) {
			throw new RuntimeException(e);
		}
	}

	/* A thread that waits for the monitor of a sleeping one is in no deadlock. */
	static void own(Object owned, CountDownLatch has) {
		synchronized (owned) {
			has.countDown();
			sleep();
		}
	}

	static void want(Object owned, CountDownLatch has) {
		await(has);
		synchronized (owned) {
			throw new AssertionError();
		}
	}

	public static void main(String[] args) throws Exception {
		Object owned = new Owned();
		CountDownLatch has = new CountDownLatch(1);
		Semaphore none = new Semaphore(0);

		if (args[0].equals("deadlocks"))
			plant();
		else if (!args[0].equals("free"))
			for (int i = 0; i < Integer.parseInt(args[0]); i++)
				start("many-" + i, Deadlocks::park);
		start("parked", none::acquireUninterruptibly);
		start("awaiting", () -> awaitSignal(new ReentrantLock()));
		start("sleeping", Deadlocks::sleep);
		start("running", Deadlocks::run);
		start("waiting", () -> waitForNotify(none));
		start("accepting", Deadlocks::accept);
		start("owner", () -> own(owned, has));
		start("wanting", () -> want(owned, has));
		System.out.println("ready");
		System.in.read();
	}
}
