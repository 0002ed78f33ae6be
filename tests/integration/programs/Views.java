// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** A mix of contended monitors, waits, parking, sleeping, allocation, exceptions. Prints what it did. */
public class Views {
	static final class Door {
	}

	static final class Oops extends RuntimeException {
	}

	static final class Payload {
		final long[] content = new long[1000];
	}

	static final Door door = new Door();
	static volatile Object sink;

	static void holdDoor(CountDownLatch held, Thread other) {
		synchronized (door) {
			held.countDown();
			while (other.getState() != Thread.State.BLOCKED)
				Thread.yield();
			long end = System.nanoTime() + 20_000_000L;
			while (System.nanoTime() < end)
				Thread.yield();
		}
	}

	static void wantDoor(CountDownLatch held) {
		await(held);
		synchronized (door) {
			sink = door;
		}
	}

	static void await(CountDownLatch latch) {
		try {
			latch.await();
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
	}

	static void contend(int times) throws InterruptedException {
		for (int i = 0; i < times; i++) {
			CountDownLatch held = new CountDownLatch(1);
			Thread wants = new Thread(() -> wantDoor(held), "wants-door");
			Thread holds = new Thread(() -> holdDoor(held, wants), "holds-door");

			wants.start();
			holds.start();
			wants.join();
			holds.join();
		}
	}

	static void waitALittle() throws InterruptedException {
		Object bell = new Object();

		synchronized (bell) {
			bell.wait(30);
		}
	}

	static void allocate(int times) {
		for (int i = 0; i < times; i++)
			sink = new Payload();
	}

	static void oops() {
		throw new Oops();
	}

	static void raise(int times) {
		for (int i = 0; i < times; i++)
			try {
				oops();
			} catch (Oops e) {
				sink = e;
			}
	}

	public static void main(String[] args) throws Exception {
		contend(5);
		waitALittle();
		LockSupport.parkNanos(30_000_000L);
		Thread.sleep(30);
		allocate(20000);
		raise(1234);
		System.gc();
		System.out.println("contended 5");
		System.out.println("raised 1234");
		System.out.println("allocated " + 20000L * 8016);
	}
}
