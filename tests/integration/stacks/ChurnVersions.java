// SPDX-License-Identifier: Apache-2.0

/**
 * Versions of one class, which ChurnRedefine names ChurnVersion. They differ in their callees, which belong to other
 * classes because its own would be of the newest version, and in their lines: version n has those from 100 n + 100 on.
 */
public class ChurnVersions {
    public static volatile int ran; // the version that was called last

    public static double helper0(double x, int i) {
        return x * 0.999 + i;
    }

    public static double helper1(double x, int i) {
        return x * 0.998 + i;
    }

    public static double helper2(double x, int i) {
        return x * 0.997 + i;
    }
}













































































// The lines of this class begin at 100.
class ChurnVersion0 {
    static double body(double x, long endNs) {
        ChurnVersions.ran = 0;
        do {
            for (int i = 0; i < 1000; i++) {
                x = ChurnVersions.helper0(x, i);
            }
        } while (System.nanoTime() < endNs);
        return x;
    }
}
























































































// The lines of this class begin at 200.
class ChurnVersion1 {
    static double body(double x, long endNs) {
        ChurnVersions.ran = 1;
        do {
            for (int i = 0; i < 1000; i++) {
                x = ChurnVersions.helper1(x, i);
            }
        } while (System.nanoTime() < endNs);
        return x;
    }
}
























































































// The lines of this class begin at 300.
class ChurnVersion2 {
    static double body(double x, long endNs) {
        ChurnVersions.ran = 2;
        do {
            for (int i = 0; i < 1000; i++) {
                x = ChurnVersions.helper2(x, i);
            }
        } while (System.nanoTime() < endNs);
        return x;
    }
}
