// SPDX-License-Identifier: Apache-2.0
// Mangled names, which reports show demangled.
#include <algorithm>
#include <cstdlib>
#include <vector>

namespace shop
{
template <typename T> struct Shelf {
	std::vector<T> things;
	__attribute__((noinline)) void order();
};

template <typename T> void Shelf<T>::order()
{
	std::sort(things.begin(), things.end(), [](T a, T b) { return (a * 31) % 1009 < (b * 31) % 1009; });
}
} // namespace shop

int main(int argc, char **argv)
{
	shop::Shelf<unsigned> shelf;

	for (int round = 0; round < (argc > 1 ? atoi(argv[1]) : 200); round++) {
		for (unsigned i = 0; i < 5000; i++)
			shelf.things.push_back(i * 7919u % 5003u);
		shelf.order();
		shelf.things.clear();
	}
	return 0;
}
