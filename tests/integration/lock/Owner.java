// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.CyclicBarrier;

/**
 * One thread blocks on a monitor that another holds, and waits for that one's notification: "blocked NS..." and "waited
 * NS..." are its own measures.
 */
public class Owner {
	static final int TURNS = 15;
	/* HotSpot before JDK 24 looks after 1, 9 and 73 ms whether a monitor is free: this is far from each. */
	static final long HOLD_MS = 35;

	static final class Held {}
	static final class Told {
		boolean listened, so;
	}

	static final Held held = new Held();
	static final Told told = new Told();
	static final CyclicBarrier taken = new CyclicBarrier(2), left = new CyclicBarrier(2);
	static volatile Thread blocked;

	static void untilIn(Thread.State state) throws Exception {
		while (blocked.getState() != state)
			Thread.sleep(1);
	}

	static void holdMonitor() throws Exception {
		synchronized (held) {
			taken.await();
			untilIn(Thread.State.BLOCKED);
			Thread.sleep(HOLD_MS);
		}
	}

	static void enterMonitor() {
		synchronized (held) {
			held.hashCode();
		}
	}

	static boolean isListenedTo() {
		synchronized (told) {
			return told.listened;
		}
	}

	/* The other one says that it listens when it has the monitor, which it leaves to wait. */
	static void tell() throws Exception {
		while (!isListenedTo())
			Thread.sleep(1);
		Thread.sleep(HOLD_MS);
		synchronized (told) {
			told.listened = false;
			told.so = true;
			told.notify();
		}
	}

	static void listen() throws Exception {
		synchronized (told) {
			told.so = false;
			told.listened = true;
			while (!told.so)
				told.wait();
		}
	}

	static void own() throws Exception {
		for (int i = 0; i < TURNS; i++) {
			holdMonitor();
			left.await();
			taken.await();
			tell();
			left.await();
		}
	}

	static void block() throws Exception {
		StringBuilder blockedNs = new StringBuilder("blocked"), waitedNs = new StringBuilder("waited");
		for (int i = 0; i < TURNS; i++) {
			taken.await();
			long start = System.nanoTime();
			enterMonitor();
			blockedNs.append(' ').append(System.nanoTime() - start);
			left.await();
			taken.await();
			start = System.nanoTime();
			listen();
			waitedNs.append(' ').append(System.nanoTime() - start);
			left.await();
		}
		System.out.println(blockedNs + "\n" + waitedNs);
	}

	interface Body {
		void run() throws Exception;
	}

	static Thread thread(String name, Body body) {
		return new Thread(() -> {
			try {
				body.run();
			} catch (Exception e) {
				e.printStackTrace();
				System.exit(1);
			}
		}, name);
	}

	public static void main(String[] args) throws Exception {
		Thread owner = thread("owner", Owner::own);
		blocked = thread("blocked", Owner::block);
		blocked.start();
		owner.start();
		owner.join();
		blocked.join();
	}
}
