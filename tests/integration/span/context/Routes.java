// SPDX-License-Identifier: Apache-2.0
import braid.context.BraidContext;

/**
 * Routes: serves requests with attributes, which say which method serves each, until its input ends. The second attribute
 * comes in the middle of a request. With an argument, a virtual thread does so. Text that is too long is cut between two
 * characters, and what has no room left out.
 */
public class Routes
{
	static volatile long sink;

	static void burn()
	{
		long x = sink;

		for (int i = 0; i < 1000000; i++)
			x = x * 31 + i;
		sink = x;
	}

	static void serveCart() { burn(); }
	static void serveLogin() { burn(); }
	static void endCart() { burn(); }
	static void endLogin() { burn(); }
	static void outside() { burn(); }

	static String times(int n, String text)
	{
		StringBuilder s = new StringBuilder();

		for (int i = 0; i < n; i++)
			s.append(text);
		return s.toString();
	}

	static void serve(long number)
	{
		boolean cart = number % 2 == 1;

		try (BraidContext.Scope s = BraidContext.open(7, 7, number).with("http.route", "/nowhere")) {
			s.with("http.route", cart ? "/cart" : "/login");
			if (cart)
				serveCart();
			else
				serveLogin();
			try (BraidContext.Scope inner = BraidContext.open(7, 8, number).with("long", times(100, "\u20ac"))) {
				inner.with("no room", "x");
				burn();
			}
			s.with("user", "user-" + number % 3);
			if (cart)
				endCart();
			else
				endLogin();
		}
		outside();
	}

	static void requests()
	{
		try {
			for (long number = 1; System.in.available() == 0; number++) {
				serve(number);
				System.out.println("served");
			}
		} catch (java.io.IOException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] args) throws Exception
	{
		Thread t;

		System.out.println("ready");
		if (args.length == 0) {
			requests();
			return;
		}
		t = (Thread)Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable)Routes::requests);
		t.join();
	}
}
