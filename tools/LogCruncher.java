// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** Writes access logs, compresses them, reads them back and counts: Java, zlib through JNI, and the kernel's files. */
public class LogCruncher {
	private static final Pattern LINE = Pattern.compile("(\\S+) \\[(\\d+)] \"(GET|POST) (\\S+)\" (\\d{3}) (\\d+)");
	private static final String[] PATHS = {"/", "/cart", "/search?q=braid", "/item/17", "/login", "/static/app.js"};

	private static void write(Path file, Random random, int lines) throws IOException {
		try (BufferedWriter out = new BufferedWriter(new OutputStreamWriter(
				new GZIPOutputStream(Files.newOutputStream(file)), StandardCharsets.UTF_8))) {
			for (int i = 0; i < lines; i++) {
				out.write("10.0." + random.nextInt(256) + "." + random.nextInt(256) + " [" + (1700000000L + i) + "] \""
						+ (random.nextInt(5) == 0 ? "POST" : "GET") + " " + PATHS[random.nextInt(PATHS.length)] + "\" "
						+ (random.nextInt(50) == 0 ? 500 : 200) + " " + random.nextInt(100000) + "\n");
			}
		}
	}

	private static Map<String, long[]> count(Path file) throws IOException {
		Map<String, long[]> byPath = new TreeMap<>();
		String text;
		try (GZIPInputStream in = new GZIPInputStream(Files.newInputStream(file))) {
			text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
		}
		for (String line : text.split("\n")) {
			Matcher m = LINE.matcher(line);
			if (!m.matches())
				continue;
			long[] sum = byPath.computeIfAbsent(m.group(4), path -> new long[2]);
			sum[0]++;
			sum[1] += Long.parseLong(m.group(6));
		}
		return byPath;
	}

	public static void main(String[] args) throws IOException {
		long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
		Path file = Files.createTempFile("crunch", ".gz");
		Random random = new Random(42);
		long requests = 0;
		try {
			while (System.nanoTime() < end) {
				write(file, random, 20_000);
				for (long[] sum : count(file).values())
					requests += sum[0];
			}
		} finally {
			Files.delete(file);
		}
		System.out.println(requests + " requests counted");
	}
}
