// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Starts as many virtual threads as its argument, the first few of them with names. */
public class VThreadEvents {
    static final AtomicLong SUM = new AtomicLong();

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[0]);
        System.out.println("ready");
        if (args.length > 1) { // until it is recorded
            System.in.read();
        }
        List<Thread> named = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Thread t = Thread.ofVirtual().name("virtual-" + i).start(SUM::incrementAndGet);
            System.out.println("named " + t.threadId() + " virtual-" + i);
            named.add(t);
        }
        for (Thread t : named) {
            t.join();
        }
        List<Thread> list = new ArrayList<>();
        for (int i = 5; i < count; i++) {
            list.add(Thread.ofVirtual().start(SUM::incrementAndGet));
            if (list.size() == 1000) {
                for (Thread t : list) {
                    t.join();
                }
                list.clear();
            }
        }
        for (Thread t : list) {
            t.join();
        }
        System.out.println("virtual " + SUM.get());
        System.out.println("end");
        System.out.flush();
        if (args.length > 1) {
            System.in.read();
        }
    }
}
