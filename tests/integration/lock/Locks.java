// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Method;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;

/*
 * Threads that wait for locks of java.util.concurrent that others hold, and for other things. "locked CLASS NANOSECONDS
 * TIMES ALL" is their own measure: of the waits that took long, how many they were, and the nanoseconds of all waits.
 * Argument: rounds.
 */
public class Locks {
	static final long HELD_MS = 8, LONG_NS = 2_000_000;

	/* The program's own lock: only a thread that waits for it in vain sees that it has an owner. */
	static final class Own extends AbstractQueuedSynchronizer {
		@Override
		protected boolean tryAcquire(int n) {
			if (!compareAndSetState(0, 1))
				return false;
			setExclusiveOwnerThread(Thread.currentThread());
			return true;
		}

		@Override
		protected boolean tryRelease(int n) {
			setExclusiveOwnerThread(null);
			setState(0);
			return true;
		}
	}

	interface Body {
		void run() throws Exception;
	}

	static final ReentrantLock lock = new ReentrantLock();
	static final ReentrantReadWriteLock shared = new ReentrantReadWriteLock();
	static final StampedLock stamped = new StampedLock();
	static final Own own = new Own();
	static final Semaphore semaphore = new Semaphore(1);
	static int rounds;

	static Thread thread(String name, Body body) {
		Thread t = new Thread(() -> {
			try {
				body.run();
			} catch (Exception e) {
				e.printStackTrace();
				System.exit(1);
			}
		}, name);
		t.start();
		return t;
	}

	/* One thread holds it for a while, and the other needs it meanwhile, again and again. */
	static void contend(String what, Body acquire, Body release) throws Exception {
		CyclicBarrier free = new CyclicBarrier(2), held = new CyclicBarrier(2);
		Thread holder = thread("holder", () -> {
			for (int i = 0; i < rounds; i++) {
				free.await();
				acquire.run();
				held.await();
				Thread.sleep(HELD_MS);
				release.run();
			}
		});
		Thread waiter = thread("waiter", () -> {
			long ns = 0, all = 0;
			int times = 0;

			for (int i = 0; i < rounds; i++) {
				free.await();
				held.await();
				long took = get(acquire);
				release.run();
				all += took;
				ns += took >= LONG_NS ? took : 0;
				times += took >= LONG_NS ? 1 : 0;
			}
			System.out.println("locked " + what + " " + ns + " " + times + " " + all);
		});

		waiter.join();
		holder.join();
	}

	static long get(Body acquire) throws Exception {
		long since = System.nanoTime();

		acquire.run();
		return System.nanoTime() - since;
	}

	/* Another thread holds it all the time. */
	static void inVain() throws Exception {
		CountDownLatch held = new CountDownLatch(1), done = new CountDownLatch(1);
		Thread holder = thread("miser", () -> {
			own.acquire(1);
			held.countDown();
			done.await();
			own.release(1);
		});
		long ns = 0;

		held.await();
		for (int i = 0; i < rounds; i++) {
			long since = System.nanoTime();

			if (own.tryAcquireNanos(1, HELD_MS * 1_000_000))
				throw new IllegalStateException();
			ns += System.nanoTime() - since;
		}
		done.countDown();
		holder.join();
		System.out.println("locked Locks$Own " + ns + " " + rounds + " " + ns);
	}

	static void noLocks() throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(2);
		ArrayBlockingQueue<Integer> queue = new ArrayBlockingQueue<>(1);

		for (int i = 0; i < rounds; i++) {
			pool.submit(() -> 0).get();
			queue.poll(HELD_MS, TimeUnit.MILLISECONDS);
			new CountDownLatch(1).await(HELD_MS, TimeUnit.MILLISECONDS);
		}
		pool.shutdown();
		contend("semaphore", semaphore::acquire, semaphore::release);
	}

	/*
	 * Names what it would park for, and waits for a monitor: ConditionObject.await does so when it is the first one that
	 * needs a class. Before Java 14, only the JDK itself can.
	 */
	static void misled() throws Exception {
		Object monitor = new int[0];
		CyclicBarrier free = new CyclicBarrier(2), held = new CyclicBarrier(2);
		Method setBlocker;

		try {
			setBlocker = LockSupport.class.getMethod("setCurrentBlocker", Object.class);
		} catch (NoSuchMethodException e) {
			return;
		}
		Thread holder = thread("holder", () -> {
			for (int i = 0; i < rounds; i++) {
				synchronized (monitor) {
					held.await();
					Thread.sleep(HELD_MS);
				}
				free.await();
			}
		});
		Thread misled = thread("misled", () -> {
			for (int i = 0; i < rounds; i++) {
				held.await();
				setBlocker.invoke(null, semaphore);
				synchronized (monitor) {
					setBlocker.invoke(null, (Object)null);
				}
				free.await();
			}
		});

		holder.join();
		misled.join();
	}

	public static void main(String[] args) throws Exception {
		rounds = Integer.parseInt(args[0]);
		Lock write = shared.writeLock();
		ThreadLocal<Long> stamp = new ThreadLocal<>();

		contend("java.util.concurrent.locks.ReentrantLock$NonfairSync", lock::lock, lock::unlock);
		contend("java.util.concurrent.locks.ReentrantReadWriteLock$NonfairSync", write::lock, write::unlock);
		contend("java.util.concurrent.locks.StampedLock", () -> stamp.set(stamped.writeLock()),
			() -> stamped.unlockWrite(stamp.get()));
		inVain();
		noLocks();
		misled();
	}
}
