// SPDX-License-Identifier: Apache-2.0
import java.nio.file.*;
import java.util.*;
import java.util.zip.*;
import java.util.concurrent.*;
import java.util.stream.*;
/** JNI heavy: Deflater/Inflater/CRC32 (libzip), zstd-jni, snappy, lz4. args corpus threads rounds */
public class Codec {
    public static void main(String[] a) throws Exception {
        int th = Integer.parseInt(a[1]), rounds = Integer.parseInt(a[2]);
        java.io.ByteArrayOutputStream bo = new java.io.ByteArrayOutputStream();
        try (Stream<Path> s = Files.walk(Paths.get(a[0]))) {
            for (Path p :
                    s.filter(x -> x.toString().endsWith(".java")).sorted().limit(1500).collect(Collectors.toList()))
                bo.write(Files.readAllBytes(p));
        }
        byte[] in = bo.toByteArray();
        System.out.println("corpus " + in.length);
        ExecutorService ex = Executors.newFixedThreadPool(th, r -> {
            Thread t = new Thread(r);
            t.setDaemon(true);
            return t;
        });
        List<Future<String>> l = new ArrayList<>();
        for (int t = 0; t < th; t++)
            l.add(ex.submit(() -> {
                long[] out = new long[4], ms = new long[4];
                for (int r = 0; r < rounds; r++) {
                    long t0 = System.nanoTime();
                    deflate(in, out);
                    long t1 = System.nanoTime();
                    ms[0] += t1 - t0;
                    for (int off = 0; off < in.length; off += 65536) {
                        byte[] b = Arrays.copyOfRange(in, off, Math.min(in.length, off + 65536));
                        byte[] z = com.github.luben.zstd.Zstd.compress(b, 6);
                        out[1] += z.length;
                        com.github.luben.zstd.Zstd.decompress(z, b.length);
                    }
                    long t2 = System.nanoTime();
                    ms[1] += t2 - t1;
                    for (int k = 0; k < 8; k++)
                        for (int off = 0; off < in.length; off += 65536) {
                            byte[] b = Arrays.copyOfRange(in, off, Math.min(in.length, off + 65536));
                            byte[] z = org.xerial.snappy.Snappy.compress(b);
                            out[2] += z.length;
                            org.xerial.snappy.Snappy.uncompress(z);
                        }
                    long t3 = System.nanoTime();
                    ms[2] += t3 - t2;
                    net.jpountz.lz4.LZ4Compressor c = net.jpountz.lz4.LZ4Factory.nativeInstance().highCompressor();
                    for (int off = 0; off < in.length; off += 65536)
                        out[3] += c.compress(in, off, Math.min(65536, in.length - off)).length;
                    ms[3] += System.nanoTime() - t3;
                }
                return "out " + Arrays.toString(out) + " ms "
                        + Arrays.toString(Arrays.stream(ms).map(x -> x / 1000000).toArray());
            }));
        for (Future<String> f : l)
            System.out.println(f.get());
        ex.shutdown();
    }
    static void deflate(byte[] in, long[] out) throws Exception {
        Deflater d = new Deflater(6);
        d.setInput(in);
        d.finish();
        byte[] b = new byte[8192];
        java.io.ByteArrayOutputStream o = new java.io.ByteArrayOutputStream();
        while (!d.finished()) {
            int n = d.deflate(b);
            o.write(b, 0, n);
        }
        d.end();
        byte[] z = o.toByteArray();
        out[0] += z.length;
        Inflater i = new Inflater();
        i.setInput(z);
        CRC32 c = new CRC32();
        while (!i.finished()) {
            int n = i.inflate(b);
            c.update(b, 0, n);
        }
        i.end();
    }
}
