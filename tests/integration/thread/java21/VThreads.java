// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/*
 * Virtual threads whose stacks and names can be verified. A thread named "vK.n" runs the chain mK and no other. atN
 * burns a little when exactly N frames of mK are on the stack: at the deepest level, and again at some levels on the
 * way back, when the frames above have been thawed one by one. Threads without a name run m0.
 *
 * VThreads SECONDS [park|yield|pin]...: runs for this time, and until enough threads have lived, or until SIGTERM; then
 * prints "K: ID ID...", the ids of each chain's threads. Needs JDK 21.
 */
public class VThreads {
	static final int DEPTH = 96;
	static final Object[] LOCKS = new Object[8];
	static final int LEAST = 3000;
	static volatile long sink;
	static volatile byte[] garbage;
	static boolean park, yield, pin;
	static final StringBuilder[] IDS = new StringBuilder[8];

	static void burn() {
		long x = sink;
		for (int i = 0; i < 20_000; i++)
			x = x * 6364136223846793005L + i;
		sink = x;
	}

	static void at96() { burn(); pause(); burn(); }
	static void at64() { burn(); pause(); burn(); }
	static void at32() { burn(); }
	static void at8() { burn(); pause(); burn(); }
	static void at1() { burn(); }

	static void pause() {
		garbage = new byte[16 << 10];
		if (yield)
			Thread.yield();
		if (park)
			LockSupport.parkNanos(1000);
	}

	/* The work at a level, on the way back from below it. */
	static void at(int level) {
		switch (level) {
		case 96: at96(); break;
		case 64: at64(); break;
		case 32: at32(); break;
		case 8: at8(); break;
		case 1: at1(); break;
		default:
		}
	}

	static void m0(int n) { if (n < DEPTH) m0(n + 1); at(n); }
	static void m1(int n) { if (n < DEPTH) m1(n + 1); at(n); }
	static void m2(int n) { if (n < DEPTH) m2(n + 1); at(n); }
	static void m3(int n) { if (n < DEPTH) m3(n + 1); at(n); }
	static void m4(int n) { if (n < DEPTH) m4(n + 1); at(n); }
	static void m5(int n) { if (n < DEPTH) m5(n + 1); at(n); }
	static void m6(int n) { if (n < DEPTH) m6(n + 1); at(n); }
	static void m7(int n) { if (n < DEPTH) m7(n + 1); at(n); }

	static void chain(int k) {
		switch (k) {
		case 0: m0(1); break;
		case 1: m1(1); break;
		case 2: m2(1); break;
		case 3: m3(1); break;
		case 4: m4(1); break;
		case 5: m5(1); break;
		case 6: m6(1); break;
		default: m7(1);
		}
	}

	/* Up to JDK 23, a thread that holds a monitor cannot unmount. */
	static void pinned(int k) {
		synchronized (LOCKS[k]) {
			chain(k);
		}
	}

	static void live(int k) {
		if (pin && k % 2 == 1)
			pinned(k);
		else
			chain(k);
	}

	static Thread start(Thread.Builder b, int k) {
		synchronized (IDS) {
			Thread t = b.start(() -> live(k));
			IDS[k].append(' ').append(t.threadId());
			return t;
		}
	}

	static void say() {
		synchronized (IDS) {
			for (int k = 0; k < IDS.length; k++)
				System.out.println(k + ":" + IDS[k]);
		}
	}

	public static void main(String[] args) throws Exception {
		long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
		long started = 0;

		for (String a : args) {
			park |= a.equals("park");
			yield |= a.equals("yield");
			pin |= a.equals("pin");
		}
		for (int i = 0; i < LOCKS.length; i++) {
			LOCKS[i] = new Object();
			IDS[i] = new StringBuilder();
		}
		Runtime.getRuntime().addShutdownHook(new Thread(VThreads::say));
		while (System.nanoTime() < end || started < LEAST) {
			List<Thread> threads = new ArrayList<>();
			for (int i = 0; i < 64; i++) {
				int k = i % 8;
				Thread.Builder.OfVirtual b = Thread.ofVirtual();
				if (k != 0)
					b = b.name("v" + k + "." + started);
				started++;
				threads.add(start(b, k));
			}
			for (Thread t : threads)
				t.join();
		}
	}
}
