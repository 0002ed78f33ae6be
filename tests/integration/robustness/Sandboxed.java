/* Contends for a monitor, puts itself under a seccomp filter, and contends again; the argument is how often each. */
public class Sandboxed {
	static native boolean enter();

	static final Sandboxed LOCK = new Sandboxed();

	static void contend(int times) throws Exception {
		for (int i = 0; i < times; i++) {
			Thread t = new Thread() {
				public void run() {
					synchronized (LOCK) {
						LOCK.hashCode();
					}
				}
			};
			synchronized (LOCK) {
				t.start();
				while (t.getState() != Thread.State.BLOCKED)
					Thread.sleep(1);
			}
			t.join();
		}
	}

	public static void main(String[] args) throws Exception {
		int times = Integer.parseInt(args[0]);

		System.loadLibrary("sandboxed");
		contend(times);
		if (!enter())
			throw new IllegalStateException("no seccomp filter");
		contend(times);
	}
}
