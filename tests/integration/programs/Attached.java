// SPDX-License-Identifier: Apache-2.0
/** Consecutive native threads that attach and detach as Java threads many times. */
public class Attached {
    static native int attach(int times);

    public static void main(String[] args) {
        System.loadLibrary("attached");
        int failed = 0;
        for (int i = 0; i < 5; i++) {
            failed += attach(60);
        }
        System.out.println("attached " + 5 * 60 + " " + failed);
    }
}
