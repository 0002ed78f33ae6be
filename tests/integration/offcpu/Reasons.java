// SPDX-License-Identifier: Apache-2.0
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A Java thread off the CPU for several reasons, each in a method of its own. For each it prints "off METHOD FROM TO NS", a
 * few times: when the thread was in it, and that time less the thread's CPU time. The thread "helper" ends what waits for it.
 */
public class Reasons {
    static final int TIMES = 5, WHILE_MS = 40;
    static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    static final Object MONITOR = new Object();
    static final ReentrantLock LOCK = new ReentrantLock();
    static final Thread MAIN = Thread.currentThread();
    static volatile boolean held;

    interface Act {
        void run() throws Exception;
    }

    static void off(String name, Act act) throws Exception {
        long from = System.nanoTime(), cpu = THREADS.getCurrentThreadCpuTime();
        act.run();
        long used = THREADS.getCurrentThreadCpuTime() - cpu;
        long to = System.nanoTime();
        System.out.println("off " + name + " " + from + " " + to + " " + (to - from - used));
    }

    static Thread helper(Act act) {
        Thread t = new Thread(() -> {
            try {
                act.run();
            } catch (Exception e) {
                throw new Error(e);
            }
        }, "helper");
        t.start();
        return t;
    }

    static void sleeps() throws Exception {
        Thread.sleep(WHILE_MS);
    }

    static void parks() {
        LockSupport.parkNanos(WHILE_MS * 1000000L);
    }

    static void enters() {
        synchronized (MONITOR) {
            held = false;
        }
    }

    static void holds() throws Exception {
        synchronized (MONITOR) {
            held = true;
            while (MAIN.getState() != Thread.State.BLOCKED) {
                Thread.sleep(1);
            }
            Thread.sleep(WHILE_MS);
        }
    }

    static void locks() {
        LOCK.lock();
        LOCK.unlock();
        held = false;
    }

    static void holdsLock() throws Exception {
        LOCK.lock();
        held = true;
        while (!LOCK.hasQueuedThreads()) {
            Thread.sleep(1);
        }
        Thread.sleep(WHILE_MS);
        LOCK.unlock();
    }

    static void reads(InputStream in) throws Exception {
        in.read();
    }

    static void sends(Socket socket) throws Exception {
        Thread.sleep(WHILE_MS);
        socket.getOutputStream().write(1);
    }

    static void untilHeld() {
        while (!held) {
            Thread.yield();
        }
    }

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort()), socket = server.accept();
        System.out.println("peer " + client.getLocalPort());
        for (int i = 0; i < TIMES; i++) {
            off("sleeps", Reasons::sleeps);
            off("parks", Reasons::parks);
            Thread t = helper(Reasons::holds);
            untilHeld();
            off("enters", Reasons::enters);
            t.join();
            t = helper(Reasons::holdsLock);
            untilHeld();
            off("locks", Reasons::locks);
            t.join();
            t = helper(() -> sends(client));
            off("reads", () -> reads(socket.getInputStream()));
            t.join();
        }
        new ProcessBuilder("sleep", "0.04").start().waitFor(10, TimeUnit.SECONDS);
    }
}
