// SPDX-License-Identifier: Apache-2.0
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import java.util.zip.CRC32;

/** Makes short stacks of every kind, again and again. Java 8, so that every JVM runs it. */
public final class Kinds {
	interface Shape {
		long area(int scale);
	}

	static final class Square implements Shape {
		public long area(int scale) {
			return (long) scale * scale;
		}
	}

	static final class Line implements Shape {
		public long area(int scale) {
			return scale;
		}
	}

	static class Circle implements Shape {
		public long area(int scale) {
			return 3L * scale * scale;
		}
	}

	static class Disc extends Circle {
		@Override
		public long area(int scale) {
			return super.area(scale) + 1;
		}
	}

	private static final Shape[] SHAPES = {new Square(), new Line(), new Circle(), new Disc()};
	private static final Circle[] CIRCLES = {new Circle(), new Disc(), new Circle() {
		@Override
		public long area(int scale) {
			return 2;
		}
	}};
	private static final byte[] BYTES = new byte[3000];
	private static final Object LOCK = new Object();
	private static MethodHandle handle;
	private static long sink;

	static long interfaces(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum += SHAPES[i & 3].area(i);
		return sum;
	}

	static long virtuals(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum += CIRCLES[i % 3].area(i);
		return sum;
	}

	static int fibonacci(int n) {
		return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
	}

	static long manyArguments(int a, long b, double c, Object d, int e, long f, float g, int h, int i, int j, long k) {
		return a + b + (long) c + e + f + (long) g + h + i + j + k + (d == null ? 0 : 1);
	}

	static long arguments(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum += manyArguments(i, i, i, LOCK, i, i, i, i, i, i, i);
		return sum;
	}

	static long copies(int n) {
		byte[] to = new byte[BYTES.length];
		Object[] objects = new Object[64], others = new Object[64];
		Arrays.fill(objects, LOCK);
		for (int i = 0; i < n; i++) {
			System.arraycopy(BYTES, i % 7, to, i % 5, BYTES.length - 16 - i % 9);
			System.arraycopy(objects, 0, others, 1, 60);
			Arrays.fill(to, (byte) i);
		}
		return to[5] + (Arrays.equals(BYTES, to) ? 1 : 0);
	}

	static long mathematics(int n) {
		double sum = 0;
		for (int i = 0; i < n; i++)
			sum += Math.sin(i) + Math.pow(i, 1.5) + Math.exp(1.0 / (i + 1)) + Math.sqrt(i) + Math.log(i + 1);
		return (long) sum;
	}

	static long checksums(int n) {
		CRC32 crc = new CRC32();
		for (int i = 0; i < n; i++) {
			crc.update(BYTES, i % 3, 1000);
			crc.update(i);
		}
		return crc.getValue();
	}

	static long natives(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum += System.nanoTime() + System.identityHashCode(new Object()) + Thread.currentThread().getId()
					+ Runtime.getRuntime().freeMemory();
		return sum;
	}

	static int thrower(int i) {
		if (i % 3 == 0)
			throw new IllegalStateException();
		return deeper(i);
	}

	static int deeper(int i) {
		int[] few = {1, 2, 3};
		return few[i % 5]; // sometimes out of bounds
	}

	static long exceptions(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++) {
			try {
				sum += thrower(i);
			} catch (IllegalStateException e) {
				sum++;
			} catch (ArrayIndexOutOfBoundsException e) {
				sum += 2;
			}
		}
		return sum;
	}

	static synchronized long locked(int i) {
		synchronized (LOCK) {
			return sink + i;
		}
	}

	static long locks(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++)
			sum += locked(i);
		return sum;
	}

	static long allocations(int n) {
		List<Object> list = new ArrayList<>();
		Map<Integer, String> map = new HashMap<>();
		for (int i = 0; i < n; i++) {
			list.add(new int[i % 100]);
			map.put(i, "n" + i);
			if (list.size() > 1000)
				list.clear();
		}
		return list.size() + map.size();
	}

	static int plus(int a, int b) {
		return a + b;
	}

	static long handles(int n) throws Throwable {
		long sum = 0;
		for (int i = 0; i < n; i++) {
			sum += (int) handle.invokeExact(i, 1);
			int captured = i;
			IntUnaryOperator f = x -> x + captured;
			sum += f.applyAsInt(i);
			sum += (long) handle.invoke((short) i, 2);
		}
		return sum;
	}

	static long casts(int n) {
		long sum = 0;
		for (int i = 0; i < n; i++) {
			Object o = SHAPES[i & 3];
			if (o instanceof Circle)
				sum += ((Circle) o).area(1);
			Object[] row = i % 2 == 0 ? new Circle[2] : new Shape[2];
			row[1] = CIRCLES[0];
			sum += row.length;
		}
		return sum;
	}

	static long round(int n) throws Throwable {
		return interfaces(n) + virtuals(n) + fibonacci(12) + arguments(n) + copies(n / 8) + mathematics(n / 4)
				+ checksums(n / 8) + natives(n / 4) + exceptions(n / 8) + locks(n) + allocations(n / 4)
				+ handles(n / 8) + casts(n);
	}

	public static void main(String[] args) throws Throwable {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1000000000L;
		int n = args.length > 1 ? Integer.parseInt(args[1]) : 400;
		handle = MethodHandles.lookup().findStatic(Kinds.class, "plus",
				MethodType.methodType(int.class, int.class, int.class));
		Thread rival = new Thread(() -> {
			while (System.nanoTime() < end) {
				sink += locked(1);
				Thread.yield();
			}
		}, "rival");
		rival.setDaemon(true);
		rival.start();
		while (System.nanoTime() < end)
			sink += round(n);
	}
}
