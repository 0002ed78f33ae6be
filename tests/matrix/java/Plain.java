// SPDX-License-Identifier: Apache-2.0
import java.util.function.Supplier;

/** Loaded again and again, each time by a new class loader. */
public class Plain implements Supplier<Integer> {
    @Override
    public Integer get() {
        int sum = 0;
        for (int i = 0; i < 10; i++)
            sum += i;
        return sum;
    }
}
