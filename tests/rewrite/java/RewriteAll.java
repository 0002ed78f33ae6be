// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/*
 * RewriteAll AGENT load|retransform FIRST EVERY [JAR...]: loads and verifies every EVERYth class of the JDK from the one
 * with the number FIRST on, and all of the jars, rewritten. `load`: as they are loaded. `retransform`: after that, then
 * puts them back and compares them with what they were, and appends the names of those that have been something else
 * meanwhile to the file that the property rewrite.names has. Fails if the JVM refuses one.
 */
public class RewriteAll
{
	static native void rewrite(boolean on);
	static native long count(int which);
	static native int retransform();
	static native long hash(Class<?> c);
	static native Class<?>[] loaded();

	private static int loaded, bad, missing;

	private static List<String> jar(String path) throws IOException
	{
		List<String> names = new ArrayList<>();

		try (JarFile jar = new JarFile(path)) {
			for (Enumeration<JarEntry> e = jar.entries(); e.hasMoreElements();)
				names.add(e.nextElement().getName());
		}
		return names;
	}

	private static List<String> jdk() throws IOException
	{
		List<String> names = new ArrayList<>();
		String boot = System.getProperty("sun.boot.class.path");

		if (boot != null) {
			for (String path : boot.split(File.pathSeparator))
				if (path.endsWith(".jar") && new File(path).exists())
					names.addAll(jar(path));
			return names;
		}
		Path modules = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");

		try (Stream<Path> files = Files.walk(modules)) {
			return files.filter(f -> f.getNameCount() > 2)
				.map(f -> f.subpath(2, f.getNameCount()).toString())
				.collect(Collectors.toList());
		}
	}

	private static void load(String file, ClassLoader loader)
	{
		if (!file.endsWith(".class") || file.startsWith("META-INF") || file.endsWith("-info.class"))
			return;
		try {
			Class.forName(file.substring(0, file.length() - 6).replace('/', '.'), false, loader)
				.getDeclaredMethods(); /* links it */
			loaded++;
		} catch (VerifyError | ClassFormatError | IncompatibleClassChangeError e) {
			System.err.println(file + ": " + e);
			bad++;
		} catch (ClassNotFoundException | LinkageError e) {
			missing++; /* what it needs is not there */
		}
	}

	private static Map<Class<?>, Long> hashes()
	{
		Map<Class<?>, Long> all = new IdentityHashMap<>();

		for (Class<?> c : loaded())
			if (c != null && hash(c) != 0) /* it is linked, and has methods */
				all.put(c, hash(c));
		return all;
	}

	private static void note(List<String> names) throws IOException
	{
		String file = System.getProperty("rewrite.names");

		if (file == null)
			return;
		try (PrintWriter out = new PrintWriter(new FileWriter(file, true))) {
			for (String name : names)
				out.println(name);
		}
	}

	private static void switchAll() throws IOException
	{
		List<String> changed = new ArrayList<>();
		Map<Class<?>, Long> before = hashes();
		int back = 0;
		long start = System.nanoTime();

		rewrite(true);
		bad += retransform();
		System.out.printf("rewritten in %d ms%n", (System.nanoTime() - start) / 1000000);
		for (Map.Entry<Class<?>, Long> e : before.entrySet())
			if (hash(e.getKey()) != e.getValue())
				changed.add(e.getKey().getName());
		rewrite(false);
		start = System.nanoTime();
		bad += retransform();
		System.out.printf("put back in %d ms%n", (System.nanoTime() - start) / 1000000);
		for (Map.Entry<Class<?>, Long> e : before.entrySet())
			if (hash(e.getKey()) == e.getValue()) {
				back++;
			} else {
				System.err.println("not as it was: " + e.getKey());
				bad++;
			}
		System.out.printf("%d classes, %d without code, %d as before%n", before.size(),
				  before.size() - changed.size(), back);
		note(changed);
	}

	public static void main(String[] args) throws Exception
	{
		int first = Integer.parseInt(args[2]), every = Integer.parseInt(args[3]);
		List<String> files = jdk();
		List<URL> urls = new ArrayList<>();

		System.load(args[0]);
		rewrite(args[1].equals("load"));
		for (int i = first; i < files.size(); i += every)
			load(files.get(i), ClassLoader.getSystemClassLoader());
		for (int i = 4; i < args.length; i++)
			urls.add(new File(args[i]).toURI().toURL());
		URLClassLoader jars = new URLClassLoader(urls.toArray(new URL[0]));
		for (int i = 4; i < args.length; i++)
			for (String file : jar(args[i]))
				load(file, jars);
		rewrite(false);
		if (args[1].equals("retransform"))
			switchAll();
		System.out.printf(
			"%d classes loaded, %d lack others, %d rewritten with %d methods and %d writes, %d refused, %d malformed, "
				+ "%d bad%n",
			loaded, missing, count(0), count(1), count(4), count(2), count(3), bad);
		System.exit(bad == 0 && count(3) == 0 && count(1) > 0 && count(4) > 0 ? 0 : 1);
	}
}
