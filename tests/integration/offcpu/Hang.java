// SPDX-License-Identifier: Apache-2.0
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that wait for ever: for a monitor and a lock that the thread "owner" has, for a condition, and for a peer that says
 * nothing. It prints "peer PORT" and "ready", and ends with its input.
 */
public class Hang {
    static class Monitor {
    }

    static final Monitor MONITOR = new Monitor();
    static final ReentrantLock LOCK = new ReentrantLock(), OTHER = new ReentrantLock();
    static final Condition CONDITION = OTHER.newCondition();
    static final CountDownLatch OWNED = new CountDownLatch(1);

    interface Act {
        void run() throws Exception;
    }

    static Thread start(String name, Act act) {
        Thread t = new Thread(() -> {
            try {
                act.run();
            } catch (Exception e) {
                throw new Error(e);
            }
        }, name);
        t.setDaemon(true);
        t.start();
        return t;
    }

    static void own() throws Exception {
        synchronized (MONITOR) {
            LOCK.lock();
            OWNED.countDown();
            Thread.sleep(Long.MAX_VALUE);
        }
    }

    static void wantM() {
        synchronized (MONITOR) {
            throw new AssertionError();
        }
    }

    static void wantL() {
        LOCK.lock();
    }

    static void awaitC() throws Exception {
        OTHER.lock();
        CONDITION.await();
    }

    static void reads(Socket socket) throws Exception {
        socket.getInputStream().read();
    }

    static void until(Thread t, Thread.State state) throws Exception {
        while (t.getState() != state) {
            Thread.sleep(1);
        }
    }

    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
        Socket client = new Socket(server.getInetAddress(), server.getLocalPort()), socket = server.accept();
        System.out.println("peer " + client.getLocalPort());
        start("owner", Hang::own);
        OWNED.await();
        until(start("wants-monitor", Hang::wantM), Thread.State.BLOCKED);
        until(start("wants-lock", Hang::wantL), Thread.State.WAITING);
        until(start("awaits-condition", Hang::awaitC), Thread.State.WAITING);
        start("reader", () -> reads(socket));
        System.out.println("ready");
        while (System.in.read() >= 0) {
        }
    }
}
