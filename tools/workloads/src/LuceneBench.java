// SPDX-License-Identifier: Apache-2.0
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;
import org.apache.lucene.analysis.standard.*;
import org.apache.lucene.document.*;
import org.apache.lucene.index.*;
import org.apache.lucene.search.*;
import org.apache.lucene.store.*;
import org.apache.lucene.queryparser.classic.*;
/** args corpus indexdir threads queries */
public class LuceneBench {
    public static void main(String[] a) throws Exception {
        Path dir = Paths.get(a[1]);
        int th = Integer.parseInt(a[2]), nq = Integer.parseInt(a[3]);
        List<Path> fs;
        try (Stream<Path> s = Files.walk(Paths.get(a[0]))) {
            fs = s.filter(p -> p.toString().endsWith(".java")).sorted().collect(Collectors.toList());
        }
        long t0 = System.nanoTime();
        ExecutorService ex = Executors.newFixedThreadPool(th);
        try (Directory d = FSDirectory.open(dir)) {
            IndexWriterConfig c = new IndexWriterConfig(new StandardAnalyzer());
            c.setOpenMode(IndexWriterConfig.OpenMode.CREATE);
            c.setRAMBufferSizeMB(32);
            try (IndexWriter w = new IndexWriter(d, c)) {
                List<Future<?>> l = new ArrayList<>();
                for (Path p : fs)
                    l.add(ex.submit(() -> {
                        Document x = new Document();
                        x.add(new StringField("path", p.toString(), Field.Store.YES));
                        x.add(new TextField("body", new String(Files.readAllBytes(p), "UTF-8"), Field.Store.YES));
                        w.addDocument(x);
                        return null;
                    }));
                for (Future<?> f : l)
                    f.get();
                w.forceMerge(1);
            }
            System.out.printf("indexed %d in %d ms%n", fs.size(), (System.nanoTime() - t0) / 1000000);
            t0 = System.nanoTime();
            try (IndexReader r = DirectoryReader.open(d)) {
                IndexSearcher s = new IndexSearcher(r);
                String[] w =
                        "return null string the thread lock buffer exception value index array class method object stream native color font paint list map set void throws"
                                .split(" ");
                List<Future<Long>> l = new ArrayList<>();
                for (int k = 0; k < th; k++) {
                    int seed = k;
                    l.add(ex.submit(() -> {
                        Random rn = new Random(seed);
                        long hits = 0;
                        QueryParser qp = new QueryParser("body", new StandardAnalyzer());
                        for (int i = 0; i < nq; i++) {
                            String q;
                            switch (i % 4) {
                                case 0:
                                    q = w[rn.nextInt(w.length)] + " AND " + w[rn.nextInt(w.length)];
                                    break;
                                case 1:
                                    q = "\"" + w[rn.nextInt(w.length)] + " " + w[rn.nextInt(w.length)] + "\"~10";
                                    break;
                                case 2:
                                    q = w[rn.nextInt(w.length)].substring(0, 3) + "*";
                                    break;
                                default:
                                    q = w[rn.nextInt(w.length)] + "~1 OR " + w[rn.nextInt(w.length)];
                            }
                            TopDocs td = s.search(qp.parse(q), 50);
                            hits += td.totalHits.value;
                            for (ScoreDoc sd : td.scoreDocs)
                                hits += s.doc(sd.doc).get("path").length();
                        }
                        return hits;
                    }));
                }
                long h = 0;
                for (Future<Long> f : l)
                    h += f.get();
                System.out.printf("queries %d hits %d in %d ms%n", th * nq, h, (System.nanoTime() - t0) / 1000000);
            }
        }
        ex.shutdown();
    }
}
