// SPDX-License-Identifier: Apache-2.0
/**
 * Naps in one place, below two callers at the same depth: ten times below the one, ten times below the other. Only words
 * further up the stack differ.
 */
public final class SamePlace {
    private static final int NAPS = 400;
    private static final int TURN = 10;

    private SamePlace() {}

    interface Caller {
        void call() throws InterruptedException;
    }

    static final class Left implements Caller {
        @Override
        public void call() throws InterruptedException {
            nap();
        }
    }

    static final class Right implements Caller {
        @Override
        public void call() throws InterruptedException {
            nap();
        }
    }

    static void nap() throws InterruptedException {
        Thread.sleep(1);
    }

    public static void main(String[] args) throws InterruptedException {
        Caller[] callers = {new Left(), new Right()};

        for (int i = 0; i < NAPS; i++) {
            callers[i / TURN % 2].call();
        }
    }
}
