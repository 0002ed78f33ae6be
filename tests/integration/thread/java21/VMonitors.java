// SPDX-License-Identifier: Apache-2.0

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/*
 * VMonitors COUNT: this many virtual threads are blocked on one monitor at the same time; prints "blocked CLASS COUNT".
 * Needs JDK 24, where they unmount meanwhile.
 */
public class VMonitors {
	static final class Gate {
	}

	public static void main(String[] args) throws Exception {
		int count = Integer.parseInt(args[0]);
		CountDownLatch about = new CountDownLatch(count);
		List<Thread> threads = new ArrayList<>();
		Gate gate = new Gate();

		synchronized (gate) {
			for (int i = 0; i < count; i++)
				threads.add(Thread.ofVirtual().start(() -> {
					about.countDown();
					synchronized (gate) {
					}
				}));
			about.await();
			for (Thread t : threads)
				while (t.getState() != Thread.State.BLOCKED)
					Thread.sleep(1);
		}
		for (Thread t : threads)
			t.join();
		System.out.println("blocked " + Gate.class.getName() + " " + count);
	}
}
