// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.locks.ReentrantLock;

/** Does what Flight Recorder has events for, and ends: computes, allocates, waits for a monitor and a lock, sleeps, collects. */
public class Flight {
    static final Object door = new Object();
    static final ReentrantLock lock = new ReentrantLock();
    static volatile boolean inside, locked;
    static volatile long sum;
    static volatile byte[] last;

    /** As async-profiler writes it. */
    @jdk.jfr.Name("profiler.Malloc")
    static class Malloc extends jdk.jfr.Event {
        long address, size;
    }

    static void compute(int rounds) {
        long s = sum;
        for (int i = 0; i < rounds; i++)
            s = s * 31 + i;
        sum = s;
    }

    /** Long enough for an event, behind whatever has begun before. */
    static void linger() {
        long end = System.nanoTime() + 50000000;
        while (System.nanoTime() < end)
            compute(1000);
    }

    static void hold(Thread main) {
        synchronized (door) {
            inside = true;
            while (main.getState() != Thread.State.BLOCKED)
                compute(1000);
            linger();
        }
        lock.lock();
        locked = true;
        while (!lock.hasQueuedThread(main))
            compute(1000);
        linger();
        lock.unlock();
    }

    public static void main(String[] args) throws Exception {
        Thread main = Thread.currentThread();
        Thread holder = new Thread(() -> hold(main), "holder");
        holder.start();
        while (!inside)
            Thread.sleep(25);
        synchronized (door) {
            compute(1000);
        }
        while (!locked)
            Thread.yield();
        lock.lock();
        lock.unlock();
        for (int i = 0; i < 200000; i++)
            last = new byte[1000];
        for (int i = 1; i <= 10; i++) {
            Malloc malloc = new Malloc();
            malloc.size = i * 1000;
            malloc.commit();
        }
        compute(300000000);
        System.gc();
        holder.join();
    }
}
