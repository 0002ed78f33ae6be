// SPDX-License-Identifier: Apache-2.0
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/* Methods with annotations, of which the JVM keeps some, and a class with one. */
public class Annotated {
	@interface Inner { long[] numbers(); Class<?> type(); }

	@Retention(RetentionPolicy.RUNTIME)
	@interface Route { String[] value(); Inner inner() default @Inner(numbers = {1, 2}, type = String.class); RetentionPolicy policy(); }

	@interface Forgotten {}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Service {}

	static volatile long sink;

	static void busy()
	{
		for (long end = System.nanoTime() + 2000000; System.nanoTime() < end;)
			sink++;
	}

	@Deprecated
	@Route(value = {"/a", "/b"}, inner = @Inner(numbers = {3}, type = int[].class), policy = RetentionPolicy.SOURCE)
	static void routed(String path) { busy(); }

	@Forgotten
	static void forgotten() { busy(); }

	static void plain() { busy(); }

	@Service
	static class Orders {
		Orders() { busy(); }

		void list() { busy(); }

		static void clear() { busy(); }
	}

	public static void main(String[] args) throws Exception
	{
		System.out.println("ready");
		for (int round = Integer.parseInt(args[0]); round > 0; round--) {
			routed("/a");
			forgotten();
			plain();
			new Orders().list();
			Orders.clear();
			System.out.println("ROUND");
		}
	}
}
