// SPDX-License-Identifier: Apache-2.0
// Host of test_hosts.py: what Java programs do: a pool of threads, pictures through the native JPEG
// library, mapped files, children, faults that the virtual machine turns into exceptions. Ends with 4.
//   java Runtime.java FOLDER
import java.awt.image.BufferedImage;
import java.io.File;
import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32;
import javax.imageio.ImageIO;

public class Runtime {
    private static long sum(BufferedImage picture) {
        CRC32 crc = new CRC32();
        for (int y = 0; y < picture.getHeight(); y++)
            for (int x = 0; x < picture.getWidth(); x++)
                crc.update(picture.getRGB(x, y) & 0xff);
        return crc.getValue();
    }

    private static void pictures(Path folder) throws IOException {
        BufferedImage picture = new BufferedImage(160, 100, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < 100; y++)
            for (int x = 0; x < 160; x++)
                picture.setRGB(x, y, x * 65793 + y);
        for (String form : new String[] {"png", "jpg"}) {
            File file = folder.resolve("p." + form).toFile();
            System.out.println(form + " written: " + ImageIO.write(picture, form, file));
            System.out.println(form + " " + sum(ImageIO.read(file)));
        }
    }

    private static void mapped(Path folder) throws IOException {
        Path path = folder.resolve("data");
        Files.write(path, new byte[100000]);
        try (FileChannel channel = FileChannel.open(path)) {
            MappedByteBuffer bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, 100000);
            System.out.println("mapped " + bytes.remaining() + " " + bytes.get(99999));
        }
        try {
            Files.size(folder.resolve("nothing"));
        } catch (IOException error) {
            System.out.println(error.getClass().getSimpleName());
        }
    }

    private static void threads() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Long>> sums = new ArrayList<>();
        for (int n = 0; n < 12; n++) {
            final int from = n;
            sums.add(pool.submit(() -> {
                long total = 0;
                for (int i = from; i < from + 100000; i++)
                    total += i % 7;
                Thread.sleep(1);
                return total;
            }));
        }
        for (Future<Long> sum : sums)
            System.out.println("sum " + sum.get());
        pool.shutdown();
    }

    // In compiled code a null is noticed by a SIGSEGV, a stack that is full by a guard page.
    private static int depth(int n) {
        return 1 + depth(n + 1);
    }

    private static void faults() {
        int caught = 0;
        for (int i = 0; i < 50000; i++) {
            String text = i % 10000 == 9999 ? null : "text";
            try {
                caught += text.length() - 4;
            } catch (NullPointerException error) {
                caught++;
            }
        }
        System.out.println("nulls " + caught);
        try {
            depth(0);
        } catch (StackOverflowError error) {
            System.out.println("the stack is full");
        }
    }

    public static void main(String[] words) throws Exception {
        Path folder = Path.of(words[0]);
        pictures(folder);
        mapped(folder);
        threads();
        faults();
        Process child = new ProcessBuilder("sh", "-c", "echo from the child; exit 9").start();
        System.out.print(new String(child.getInputStream().readAllBytes()));
        System.out.println("child " + child.waitFor());
        System.err.println("not on the output");
        System.exit(4);
    }
}
