import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;

/*
 * Keeps 12,345 objects of one class, 1,000 and 2,000 of a class of two loaders, and leaves 20,000 objects to be
 * collected, for which the heap should have room. Each line that it reads makes 5,000 more of the first class.
 * Argument: the directory of the classes.
 */
public class HeapObjects {
	static class Known {
		long a, b;
	}

	static class Garbage {
		long a;
	}

	public static class Loaded {
		public int a;
	}

	static final List<Object> kept = new ArrayList<>(100000);
	static volatile Object sink;

	static void keep(int count) {
		for (int i = 0; i < count; i++)
			kept.add(new Known());
	}

	static void keepLoaded(URL[] where, int count) throws Exception {
		Class<?> loaded = new URLClassLoader(where, null).loadClass("HeapObjects$Loaded");

		for (int i = 0; i < count; i++)
			kept.add(loaded.getConstructor().newInstance());
	}

	public static void main(String[] args) throws Exception {
		URL[] where = {new File(args[0]).toURI().toURL()};

		keep(12345);
		keepLoaded(where, 1000);
		keepLoaded(where, 2000);
		for (int i = 0; i < 20000; i++)
			sink = new Garbage();
		sink = null;
		System.out.println("ready");
		for (int n = 1; System.in.read() == '\n'; n++) {
			keep(5000);
			System.out.println("more " + n);
		}
	}
}
