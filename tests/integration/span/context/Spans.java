// SPDX-License-Identifier: Apache-2.0
import braid.context.BraidContext;

import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Spans KIND THREADS SECONDS: threads (KIND platform or virtual) that are all in spans at the same time. Thread n's span
 * has the number n, and the four digits of n are the names of the methods that run in it: a1, b2, c3 and d4 for 1234.
 * In between the threads sleep and yield, at all depths, and run outsideSpan() without a span.
 */
public class Spans
{
	static volatile long sink;
	static volatile boolean stop;
	static volatile byte[] kept;

	static void burn(int rounds)
	{
		long x = sink;

		for (int i = 0; i < rounds; i++)
			x = x * 31 + i;
		sink = x;
	}

	static void work(int number) throws Exception
	{
		int kind = ThreadLocalRandom.current().nextInt(4);

		burn(20000);
		if (kind == 0)
			Thread.yield();
		else if (kind == 1)
			Thread.sleep(ThreadLocalRandom.current().nextInt(20));
		else if (kind == 2)
			kept = new byte[2000 + number]; // the compiler removes what nobody can see
		burn(20000);
	}

	static void d0(int n) throws Exception { work(n); }
	static void d1(int n) throws Exception { work(n); }
	static void d2(int n) throws Exception { work(n); }
	static void d3(int n) throws Exception { work(n); }
	static void d4(int n) throws Exception { work(n); }
	static void d5(int n) throws Exception { work(n); }
	static void d6(int n) throws Exception { work(n); }
	static void d7(int n) throws Exception { work(n); }
	static void d8(int n) throws Exception { work(n); }
	static void d9(int n) throws Exception { work(n); }

	static void d(int n) throws Exception
	{
		switch (n % 10) {
		case 0: d0(n); break;
		case 1: d1(n); break;
		case 2: d2(n); break;
		case 3: d3(n); break;
		case 4: d4(n); break;
		case 5: d5(n); break;
		case 6: d6(n); break;
		case 7: d7(n); break;
		case 8: d8(n); break;
		default: d9(n); break;
		}
	}

	static void c0(int n) throws Exception { d(n); }
	static void c1(int n) throws Exception { d(n); }
	static void c2(int n) throws Exception { d(n); }
	static void c3(int n) throws Exception { d(n); }
	static void c4(int n) throws Exception { d(n); }
	static void c5(int n) throws Exception { d(n); }
	static void c6(int n) throws Exception { d(n); }
	static void c7(int n) throws Exception { d(n); }
	static void c8(int n) throws Exception { d(n); }
	static void c9(int n) throws Exception { d(n); }

	static void c(int n) throws Exception
	{
		switch (n / 10 % 10) {
		case 0: c0(n); break;
		case 1: c1(n); break;
		case 2: c2(n); break;
		case 3: c3(n); break;
		case 4: c4(n); break;
		case 5: c5(n); break;
		case 6: c6(n); break;
		case 7: c7(n); break;
		case 8: c8(n); break;
		default: c9(n); break;
		}
	}

	static void b0(int n) throws Exception { c(n); }
	static void b1(int n) throws Exception { c(n); }
	static void b2(int n) throws Exception { c(n); }
	static void b3(int n) throws Exception { c(n); }
	static void b4(int n) throws Exception { c(n); }
	static void b5(int n) throws Exception { c(n); }
	static void b6(int n) throws Exception { c(n); }
	static void b7(int n) throws Exception { c(n); }
	static void b8(int n) throws Exception { c(n); }
	static void b9(int n) throws Exception { c(n); }

	static void b(int n) throws Exception
	{
		switch (n / 100 % 10) {
		case 0: b0(n); break;
		case 1: b1(n); break;
		case 2: b2(n); break;
		case 3: b3(n); break;
		case 4: b4(n); break;
		case 5: b5(n); break;
		case 6: b6(n); break;
		case 7: b7(n); break;
		case 8: b8(n); break;
		default: b9(n); break;
		}
	}

	static void a0(int n) throws Exception { b(n); }
	static void a1(int n) throws Exception { b(n); }
	static void a2(int n) throws Exception { b(n); }
	static void a3(int n) throws Exception { b(n); }
	static void a4(int n) throws Exception { b(n); }
	static void a5(int n) throws Exception { b(n); }
	static void a6(int n) throws Exception { b(n); }
	static void a7(int n) throws Exception { b(n); }
	static void a8(int n) throws Exception { b(n); }
	static void a9(int n) throws Exception { b(n); }

	static void insideSpan(int n) throws Exception
	{
		switch (n / 1000) {
		case 0: a0(n); break;
		case 1: a1(n); break;
		case 2: a2(n); break;
		case 3: a3(n); break;
		case 4: a4(n); break;
		case 5: a5(n); break;
		case 6: a6(n); break;
		case 7: a7(n); break;
		case 8: a8(n); break;
		default: a9(n); break;
		}
	}

	static void outsideSpan() throws Exception
	{
		burn(20000);
		Thread.yield();
	}

	static void live(int n, CountDownLatch all)
	{
		try (BraidContext.Scope outer = BraidContext.open(1, n, n | 1L << 32)) {
			all.countDown();
			all.await();
			while (!stop) {
				try (BraidContext.Scope inner = BraidContext.open(1, n, n | 2L << 32)) {
					insideSpan(n);
				}
				insideSpan(n);
				BraidContext.clear();
				outsideSpan();
				BraidContext.set(1, n, n | 3L << 32);
			}
		} catch (Exception e) {
			e.printStackTrace();
			System.exit(1);
		}
	}

	static Thread start(String kind, Runnable r) throws Exception
	{
		Method virtual;
		Thread t;

		if (kind.equals("virtual")) {
			virtual = Thread.class.getMethod("startVirtualThread", Runnable.class);
			return (Thread)virtual.invoke(null, r);
		}
		t = new Thread(r);
		t.start();
		return t;
	}

	public static void main(String[] args) throws Exception
	{
		int count = Integer.parseInt(args[1]);
		Thread[] threads = new Thread[count];
		CountDownLatch all = new CountDownLatch(count);

		if (!BraidContext.isAvailable())
			throw new Exception("no library");
		for (int i = 0; i < count; i++) {
			int n = i;

			threads[i] = start(args[0], () -> live(n, all));
		}
		all.await();
		System.out.println("ready");
		Thread.sleep((long)(Double.parseDouble(args[2]) * 1000));
		stop = true;
		for (Thread t : threads)
			t.join();
	}
}
