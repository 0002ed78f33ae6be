// SPDX-License-Identifier: Apache-2.0
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;
/** contention: args threads seconds. synchronized, ReentrantLock, ReadWrite, BlockingQueue, wait/notify, ForkJoin */
public class Locks {
    static final Object mon = new Object();
    static long shared;
    static final ReentrantLock rl = new ReentrantLock();
    static final ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
    static final Map<Integer, Integer> m = new HashMap<>();
    static long work(int n) {
        long x = n;
        for (int i = 0; i < n; i++)
            x = x * 6364136223846793005L + 1;
        return x;
    }
    static void mon() {
        synchronized (mon) {
            shared += work(2000);
        }
    }
    static void rlock() {
        rl.lock();
        try {
            shared += work(2000);
        } finally {
            rl.unlock();
        }
    }
    static void rwlock(int i) {
        if (i % 8 == 0) {
            rw.writeLock().lock();
            try {
                m.put(i % 100, i);
            } finally {
                rw.writeLock().unlock();
            }
        } else {
            rw.readLock().lock();
            try {
                m.get(i % 100);
                work(500);
            } finally {
                rw.readLock().unlock();
            }
        }
    }
    public static void main(String[] a) throws Exception {
        int n = Integer.parseInt(a[0]);
        long end = System.nanoTime() + Long.parseLong(a[1]) * 1000000000L;
        BlockingQueue<Integer> q = new ArrayBlockingQueue<>(16);
        Thread[] t = new Thread[n];
        long[] ops = new long[n];
        for (int k = 0; k < n; k++) {
            int id = k;
            t[k] = new Thread(() -> {
                try {
                    while (System.nanoTime() < end) {
                        switch (id % 4) {
                            case 0:
                                mon();
                                break;
                            case 1:
                                rlock();
                                break;
                            case 2:
                                if ((id / 4) % 2 == 0)
                                    q.offer(id, 10, TimeUnit.MILLISECONDS);
                                else
                                    q.poll(10, TimeUnit.MILLISECONDS);
                                break;
                            default:
                                rwlock((int) ops[id]);
                        }
                        ops[id]++;
                    }
                } catch (InterruptedException e) {
                }
            }, "locker-" + k);
            t[k].start();
        }
        for (Thread x : t)
            x.join();
        System.out.println("ops " + Arrays.stream(ops).sum());
    }
}
