import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLong;

/*
 * Threads block on monitors of two classes and wait on a third, and print their own measures: "blocked CLASS
 * NANOSECONDS TIMES" and "waited CLASS NANOSECONDS TIMES TIMED-OUT LATE"; "everywhere MILLISECONDS TIMES" is what the
 * JVM has counted, on whatever monitors they blocked. A late bell may have rung before the timeout, or after it and
 * before the thread had its monitor again. Arguments: rounds, and "virtual" for virtual threads or "wait" for a line of
 * input before.
 */
public class Monitors {
	static final class Narrow {
	}

	static final class Wide {
	}

	static final class Bell {
		boolean rung;
	}

	/* A thread that enters later than this has been blocked; others may not have been. */
	static final long BLOCKED_NS = 1_000_000;

	static final class Sum {
		final AtomicLong ns = new AtomicLong(), times = new AtomicLong();

		void add(long took) {
			if (took >= BLOCKED_NS) {
				ns.addAndGet(took);
				times.incrementAndGet();
			}
		}
	}

	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
	static final Object narrow = new Narrow(), wide = new Wide();
	static final Bell bell = new Bell();
	static final Sum blockedNarrow = new Sum(), blockedWide = new Sum(), waited = new Sum();
	static final AtomicLong blockedMs = new AtomicLong(), blockedTimes = new AtomicLong();
	static final int TIMEOUT_MS = 30;
	static int timedOut, late;

	/* The JVM's count of this thread's blocked times; -1 for a virtual thread, for which there is none. */
	static long timesBlocked() {
		ThreadInfo info = THREADS.getThreadInfo(Thread.currentThread().getId());

		return info == null ? -1 : info.getBlockedCount();
	}

	/* Waiting for a CPU takes time, too. */
	static void enter(Object monitor, Sum sum, int ms) {
		long before = timesBlocked(), since = System.nanoTime();

		synchronized (monitor) {
			long took = System.nanoTime() - since;

			if (before < 0 || timesBlocked() > before)
				sum.add(took);
			pause(ms);
		}
	}

	static void pause(int ms) {
		try {
			Thread.sleep(ms);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	static void contend(int rounds, boolean inWide) {
		for (int i = 0; i < rounds; i++)
			if (inWide)
				enter(wide, blockedWide, 5);
			else
				enter(narrow, blockedNarrow, 10);
	}

	static void await(int rounds) throws InterruptedException {
		for (int i = 0; i < rounds; i++) {
			synchronized (bell) {
				long since = System.nanoTime();

				bell.rung = false;
				bell.wait(TIMEOUT_MS);
				long took = System.nanoTime() - since;
				waited.add(took);
				if (!bell.rung)
					timedOut++;
				else if (took >= TIMEOUT_MS * 1_000_000L)
					late++;
			}
		}
	}

	static void ring(int rounds) {
		for (int i = 0; i < rounds; i++) {
			pause(50);
			synchronized (bell) {
				bell.rung = true;
				bell.notify();
			}
		}
	}

	/* What the JVM has counted for these threads: each is counted once. */
	static void count(long... ids) {
		for (ThreadInfo info : THREADS.getThreadInfo(ids)) {
			if (info == null)
				continue;
			blockedMs.addAndGet(info.getBlockedTime());
			blockedTimes.addAndGet(info.getBlockedCount());
		}
	}

	static Thread thread(String name, boolean virtual, Runnable work) throws Exception {
		Runnable r = () -> {
			work.run();
			count(Thread.currentThread().getId());
		};
		Thread t;

		if (virtual) {
			Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
			Class<?> kind = Class.forName("java.lang.Thread$Builder");

			builder = kind.getMethod("name", String.class).invoke(builder, name);
			return (Thread)kind.getMethod("start", Runnable.class).invoke(builder, r);
		}
		t = new Thread(r, name);
		t.start();
		return t;
	}

	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);
		boolean virtual = args.length > 1 && args[1].equals("virtual");
		Thread[] threads = new Thread[8];

		THREADS.setThreadContentionMonitoringEnabled(true);
		if (args.length > 1 && args[1].equals("wait")) {
			System.out.println("ready");
			System.in.read();
		}

		for (int i = 0; i < 6; i++) {
			boolean inWide = i >= 3;

			threads[i] = thread("contender-" + i, virtual, () -> contend(rounds, inWide));
		}
		threads[6] = thread("waiter", virtual, () -> {
			try {
				await(rounds);
			} catch (InterruptedException e) {
				throw new IllegalStateException(e);
			}
		});
		threads[7] = thread("ringer", virtual, () -> ring(rounds));
		for (Thread t : threads)
			t.join();
		count(THREADS.getAllThreadIds());
		System.out.println("everywhere " + blockedMs + " " + blockedTimes);
		System.out.println("blocked Monitors$Narrow " + blockedNarrow.ns + " " + blockedNarrow.times);
		System.out.println("blocked Monitors$Wide " + blockedWide.ns + " " + blockedWide.times);
		System.out.println("waited Monitors$Bell " + waited.ns + " " + waited.times + " " + timedOut + " " + late);
	}
}
