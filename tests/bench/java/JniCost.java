// SPDX-License-Identifier: Apache-2.0
import java.util.Locale;

/*
 * What JNI calls cost, in ns: for each of ROUNDS rounds of COUNT a line with a pair of NewGlobalRef and DeleteGlobalRef, one
 * of weak references, and one of GetPrimitiveArrayCritical and ReleasePrimitiveArrayCritical.
 * `JniCost LIBRARY ROUNDS COUNT`
 */
public class JniCost {
	static native double global(Object o, int count);

	static native double weak(Object o, int count);

	static native double critical(byte[] array, int count);

	public static void main(String[] args)
	{
		int count = Integer.parseInt(args[2]);
		byte[] o = new byte[64];

		System.load(args[0]);
		for (int round = Integer.parseInt(args[1]); round > 0; round--)
			System.out.printf(Locale.ROOT, "%.1f %.1f %.1f%n", global(o, count), weak(o, count), critical(o, count));
	}
}
