// SPDX-License-Identifier: Apache-2.0

import java.util.concurrent.locks.ReentrantLock;

/*
 * Virtual threads that wait for a lock, one after the other: "for-main" for one that main has, "for-holder" for one that the
 * virtual thread "holder" has, "free" for nothing, and "stuck", which still waits for main when the program exits. Prints "NAME
 * ID". Needs JDK 21.
 */
public class VOwners {
	static final int HELD_MS = 100;

	static void waits(ReentrantLock lock) {
		lock.lock();
		lock.unlock();
	}

	static Thread start(String name, ReentrantLock lock) throws Exception {
		Thread t = Thread.ofVirtual().name(name).start(() -> waits(lock));
		System.out.println(name + " " + t.threadId());
		return t;
	}

	static void awaitParked(Thread t) throws Exception {
		while (t.getState() != Thread.State.WAITING)
			Thread.sleep(1);
	}

	static void holds(ReentrantLock lock, ReentrantLock until) {
		lock.lock();
		until.lock();
		until.unlock();
		lock.unlock();
	}

	public static void main(String[] args) throws Exception {
		ReentrantLock mine = new ReentrantLock(), its = new ReentrantLock();
		Thread t;

		mine.lock();
		t = start("for-main", mine);
		awaitParked(t);
		Thread.sleep(HELD_MS);
		mine.unlock();
		t.join();
		mine.lock();
		Thread holder = Thread.ofVirtual().name("holder").start(() -> holds(its, mine));
		awaitParked(holder);
		t = start("for-holder", its);
		awaitParked(t);
		Thread.sleep(HELD_MS);
		mine.unlock();
		t.join();
		start("free", new ReentrantLock()).join();
		mine.lock();
		awaitParked(start("stuck", mine));
		Thread.sleep(HELD_MS);
		System.exit(0);
	}
}
