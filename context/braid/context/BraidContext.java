// SPDX-License-Identifier: Apache-2.0
package braid.context;

import java.io.File;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The request that the current thread serves, where braid and other profilers read it: they attribute what the thread
 * does to its trace and span. The ids are those of OpenTelemetry and of W3C Trace Context.
 *
 * <pre>
 * try (BraidContext.Scope s = BraidContext.open(traceIdHi, traceIdLo, spanId).with("http.route", "/cart")) {
 *     ...
 * }
 * </pre>
 *
 * A context belongs to the thread that has set it, also to a virtual one, on whatever carrier it runs. It is not passed
 * on to other threads. All of this works, and costs the same, whether or not anybody records.
 */
public final class BraidContext
{
	/** A context that ends with {@link #close}, which brings the one before it back. */
	public static final class Scope implements AutoCloseable
	{
		private final Thread thread = Thread.currentThread();
		private final Scope outer;
		private final long hi, lo, span;
		private Map<String, String> attributes;
		private byte[] record; // the attributes as the thread's record has them

		private Scope(Scope outer, long hi, long lo, long span)
		{
			this.outer = outer;
			this.hi = hi;
			this.lo = lo;
			this.span = span;
		}

		/**
		 * Says more about the request, such as its route. To be called by the thread that has opened the context. A
		 * key that the context has gets the new value. A program can use 256 keys of 64 bytes, and a context has room
		 * for 256 bytes with two more for each attribute: what exceeds that is left out, and so are all if the program
		 * has a process context of its own (OTEP 4719).
		 */
		public Scope with(String key, String value)
		{
			Objects.requireNonNull(key);
			Objects.requireNonNull(value);
			checkThread();
			if (!AVAILABLE)
				return this;
			if (attributes == null)
				attributes = new LinkedHashMap<>();
			attributes.put(key, value);
			record = Attributes.encode(attributes);
			if (CURRENT.get() == this)
				enter(this);
			return this;
		}

		private void checkThread()
		{
			if (Thread.currentThread() != thread)
				throw new IllegalStateException("a context belongs to the thread that has opened it");
		}

		/** To be called by the thread that has opened it. */
		@Override
		public void close()
		{
			checkThread();
			if (!AVAILABLE)
				return;
			if (outer == null)
				clear();
			else
				enter(outer);
		}
	}

	private static final ThreadLocal<Scope> CURRENT = new ThreadLocal<>();
	private static final MethodHandle IS_VIRTUAL = isVirtualHandle();
	private static final boolean AVAILABLE = load();

	private BraidContext()
	{
	}

	/** Whether the native library, which is beside this class's jar, could be loaded. If not, contexts have no effect. */
	public static boolean isAvailable()
	{
		return AVAILABLE;
	}

	/**
	 * Sets the current thread's context, until the next set(), clear(), or end of a scope.
	 *
	 * @param traceIdHi the first 16 hexadecimal digits of the trace id
	 * @param traceIdLo the other 16
	 * @param spanId the span id, which is not 0
	 */
	public static void set(long traceIdHi, long traceIdLo, long spanId)
	{
		if (AVAILABLE)
			enter(new Scope(null, traceIdHi, traceIdLo, spanId));
	}

	/** Removes the current thread's context. A virtual thread should have none at its end. */
	public static void clear()
	{
		if (!AVAILABLE)
			return;
		CURRENT.remove();
		publish(number(), 0, 0, 0, null);
	}

	/** Sets the current thread's context until the scope is closed. */
	public static Scope open(long traceIdHi, long traceIdLo, long spanId)
	{
		Scope s = new Scope(AVAILABLE ? CURRENT.get() : null, traceIdHi, traceIdLo, spanId);

		if (AVAILABLE)
			enter(s);
		return s;
	}

	private static void enter(Scope s)
	{
		CURRENT.set(s);
		publish(number(), s.hi, s.lo, s.span, s.record);
	}

	/* Thread.threadId() of a virtual thread, 0 of others. */
	@SuppressWarnings("deprecation")
	private static long number()
	{
		Thread t = Thread.currentThread();

		try {
			return IS_VIRTUAL != null && (boolean)IS_VIRTUAL.invokeExact(t) ? t.getId() : 0;
		} catch (Throwable e) {
			throw new AssertionError(e);
		}
	}

	/* NULL before JDK 21. */
	private static MethodHandle isVirtualHandle()
	{
		try {
			return MethodHandles.publicLookup().findVirtual(Thread.class, "isVirtual",
									MethodType.methodType(boolean.class));
		} catch (ReflectiveOperationException e) {
			return null;
		}
	}

	private static boolean load()
	{
		try {
			File at = new File(
				BraidContext.class.getProtectionDomain().getCodeSource().getLocation().toURI());

			System.load(new File(at.isFile() ? at.getParentFile() : at, "libbraid-context.so").getAbsolutePath());
			return true;
		} catch (Exception | LinkageError e) {
			return false;
		}
	}

	private static native void publish(long number, long traceIdHi, long traceIdLo, long spanId, byte[] attributes);
}
