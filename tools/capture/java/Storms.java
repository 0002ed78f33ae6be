// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.function.IntUnaryOperator;

/**
 * Code that never settles: the same classes are loaded again, so that methods are interpreted, compiled, replaced
 * during a loop and deoptimised all the time. Java 8, so that every JVM runs it.
 */
public final class Storms {
	/** The class that a new loader defines each time. */
	public static class Work implements IntUnaryOperator {
		static class Base {
			int value(int i) {
				return i;
			}
		}

		static class Late extends Base {
			@Override
			int value(int i) {
				return i + 1;
			}
		}

		private int[] numbers = new int[64];
		private static int started = initial(5); // the VM calls <clinit>

		static int initial(int n) {
			int sum = 0;
			for (int i = 0; i < n * 100; i++)
				sum += i % 7;
			return sum;
		}

		int inlined(Base b, int i, boolean rare) {
			if (rare) // the compiler never sees it
				return b.value(i) * numbers[i & 63] + started;
			return b.value(i) + 1;
		}

		int middle(Base b, int i, boolean rare) {
			return inlined(b, i, rare) + inlined(b, i + 1, rare);
		}

		synchronized int locked(Base b, int i, boolean rare) {
			synchronized (numbers) {
				return middle(b, i, rare);
			}
		}

		/* The compiler assumes that no class overrides value(), until one does. */
		int assumes(int n) {
			Base b = new Base();
			int sum = 0;
			for (int i = 0; i < n; i++)
				sum += locked(b, i, false);
			b = new Late();
			for (int i = 0; i < n / 10 + 10; i++)
				sum += locked(b, i, i % 3 == 0);
			return sum;
		}

		/* A loop that is replaced while it runs, three deep, with locals of every kind. */
		long loops(int n) {
			long sum = 0;
			double d = 1;
			Object o = this;
			for (int i = 0; i < n; i++) {
				for (int k = 0; k < 50; k++) {
					sum += (long) i * k + numbers[k];
					d = d * 1.0001 + k;
				}
				if (o == null)
					return sum;
				if (i == n - 5)
					o = numbers; // the class that the compiler profiled changes
				sum += o.hashCode();
			}
			return sum + (long) d;
		}

		int nulls(int[] a) {
			try {
				return a.length;
			} catch (NullPointerException e) {
				return -1;
			}
		}

		int divides(int a, int b) {
			try {
				return a / b;
			} catch (ArithmeticException e) {
				return -2;
			}
		}

		int casts(Object o) {
			try {
				return ((String) o).length();
			} catch (ClassCastException e) {
				return -3;
			}
		}

		int traps(int n) {
			int sum = 0;
			for (int i = 0; i < n; i++)
				sum += nulls(i % 1000 == 999 ? null : numbers) + divides(i, i % 900 == 899 ? 0 : 3)
						+ casts(i % 800 == 799 ? (Object) this : "abc");
			return sum;
		}

		int deep(int n) {
			int[] some = {n, n + 1};
			return n == 0 ? some[0] : deep(n - 1) + some[1];
		}

		int unwinds(int n) {
			if (n == 0)
				throw new IllegalStateException();
			try {
				return unwinds(n - 1) + 1;
			} finally {
				started++;
			}
		}

		@Override
		public int applyAsInt(int n) {
			int sum = assumes(n) + (int) loops(n / 4) + traps(n) + deep(200);
			for (int i = 0; i < 20; i++) {
				try {
					sum += unwinds(10 + i);
				} catch (IllegalStateException e) {
					sum++;
				}
			}
			return sum;
		}
	}

	static final class Anew extends ClassLoader {
		private static byte[] bytes(String name) throws IOException {
			ByteArrayOutputStream out = new ByteArrayOutputStream();
			byte[] some = new byte[4096];
			try (InputStream in = Storms.class.getResourceAsStream(name + ".class")) {
				for (int n; (n = in.read(some)) > 0;)
					out.write(some, 0, n);
			}
			return out.toByteArray();
		}

		@Override
		protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
			if (!name.startsWith("Storms$Work"))
				return super.loadClass(name, resolve);
			Class<?> c = findLoadedClass(name);
			if (c != null)
				return c;
			try {
				byte[] b = bytes(name);
				return defineClass(name, b, 0, b.length);
			} catch (IOException e) {
				throw new ClassNotFoundException(name, e);
			}
		}
	}

	public static void main(String[] args) throws Throwable {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1000000000L;
		int n = args.length > 1 ? Integer.parseInt(args[1]) : 4000;
		int[] sums = new int[8];
		Thread collector = new Thread(() -> { // polls are armed repeatedly
			while (System.nanoTime() < end) {
				System.gc();
				try {
					Thread.sleep(50);
				} catch (InterruptedException e) {
					return;
				}
			}
		}, "collector");
		collector.setDaemon(true);
		collector.start();
		for (int i = 0; System.nanoTime() < end; i++) {
			Class<?> c = new Anew().loadClass("Storms$Work", true);
			Method apply = c.getMethod("applyAsInt", int.class);
			Object work = c.getDeclaredConstructor().newInstance();
			for (int k = 0; k < 12; k++) // by JNI at first
				sums[i & 7] += (Integer) apply.invoke(work, n);
		}
		if (Arrays.hashCode(sums) == 1)
			System.out.println();
	}
}
