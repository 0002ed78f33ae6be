// SPDX-License-Identifier: Apache-2.0
#include "vm.h"

#include "hotspot/vm_tables.h"

#define MARK_MOVED 3ULL /* both low bits of an object's first word */
#define HEAP_BYTES_MAX (1ULL << 44)
#define ADDRESS_END (1ULL << 47)

enum {
	F_LAYOUT_HELPER,
	F_SUPER,
	F_MIRROR,
	F_SUBKLASS,
	F_SIBLING,
	F_LOADER_DATA,
	F_LOADER_DATA_8,
	F_VTABLE,
	F_VTABLE_8,
	F_ITABLE,
	F_OOP_MAPS,
	F_FIELDS,
	F_STREAM,
	F_JAVA_FIELDS,
	F_CONSTANTS,
	F_ARRAYS,
	F_HIGHER,
	F_BYTES,
	F_SHORTS,
	F_POOL_CACHE,
	F_RESOLVED,
	F_RESOLVED_8,
	F_LOADER,
	F_CLASS_KLASS,
	F_CLASS_WORDS,
	F_SYMBOLS,
	F_SYMBOLS_OLD,
	F_HEAP,
	F_RESERVED,
	F_REGION_START,
	F_REGION_WORDS,
	F_OWNER_ID,
	FIELDS
};

static const struct vm_field fields[FIELDS] = {
	[F_LAYOUT_HELPER] = {.type = "Klass", .name = "_layout_helper"},
	[F_SUPER] = {.type = "Klass", .name = "_super"},
	[F_MIRROR] = {.type = "Klass", .name = "_java_mirror"},
	[F_SUBKLASS] = {.type = "Klass", .name = "_subklass"},
	[F_SIBLING] = {.type = "Klass", .name = "_next_sibling"},
	[F_LOADER_DATA] = {.type = "Klass", .name = "_class_loader_data"},
	[F_LOADER_DATA_8] = {.type = "InstanceKlass", .name = "_class_loader_data"},
	[F_VTABLE] = {.type = "Klass", .name = "_vtable_len"},
	[F_VTABLE_8] = {.type = "InstanceKlass", .name = "_vtable_len"},
	[F_ITABLE] = {.type = "InstanceKlass", .name = "_itable_len"},
	[F_OOP_MAPS] = {.type = "InstanceKlass", .name = "_nonstatic_oop_map_size"},
	[F_FIELDS] = {.type = "InstanceKlass", .name = "_fields"}, /* up to 20 */
	[F_STREAM] = {.type = "InstanceKlass", .name = "_fieldinfo_stream"},
	[F_JAVA_FIELDS] = {.type = "InstanceKlass", .name = "_java_fields_count"},
	[F_CONSTANTS] = {.type = "InstanceKlass", .name = "_constants"},
	[F_ARRAYS] = {.type = "InstanceKlass", .name = "_array_klasses"},
	[F_HIGHER] = {.type = "ArrayKlass", .name = "_higher_dimension"},
	[F_BYTES] = {.type = "Array<u1>", .name = "_data"},
	[F_SHORTS] = {.type = "Array<u2>", .name = "_data"},
	[F_POOL_CACHE] = {.type = "ConstantPool", .name = "_cache"},
	[F_RESOLVED] = {.type = "ConstantPoolCache", .name = "_resolved_references"},
	[F_RESOLVED_8] = {.type = "ConstantPool", .name = "_resolved_references"},
	[F_LOADER] = {.type = "ClassLoaderData", .name = "_class_loader"},
	[F_CLASS_KLASS] = {.type = "java_lang_Class", .name = "_klass_offset"},
	[F_CLASS_WORDS] = {.type = "java_lang_Class", .name = "_oop_size_offset"},
	[F_SYMBOLS] = {.type = "Symbol", .name = "_vm_symbols[0]"},
	[F_SYMBOLS_OLD] = {.type = "vmSymbols", .name = "_symbols[0]"},
	[F_HEAP] = {.type = "Universe", .name = "_collectedHeap"},
	[F_RESERVED] = {.type = "CollectedHeap", .name = "_reserved"},
	[F_REGION_START] = {.type = "MemRegion", .name = "_start"},
	[F_REGION_WORDS] = {.type = "MemRegion", .name = "_word_size"},
	[F_OWNER_ID] = {.type = "JavaThread", .name = "_monitor_owner_id"}, /* 24 and later */
};

/* Takes the offset of `a`, or of `b` where the VM lacks `a`. */
static bool take(uint16_t *to, const struct vm_field *f, int a, int b)
{
	const struct vm_field *one = f[a].found || b < 0 ? &f[a] : &f[b];

	*to = (uint16_t)one->offset;
	return one->found && one->offset <= UINT16_MAX;
}

static bool klass_take(struct vm *v, const struct vm_field *f)
{
	return take(&v->klass_layout, f, F_LAYOUT_HELPER, -1) && take(&v->klass_super, f, F_SUPER, -1) &&
	       take(&v->klass_mirror, f, F_MIRROR, -1) && take(&v->klass_subklass, f, F_SUBKLASS, -1) &&
	       take(&v->klass_sibling, f, F_SIBLING, -1) &&
	       take(&v->klass_loader_data, f, F_LOADER_DATA, F_LOADER_DATA_8) &&
	       take(&v->klass_vtable, f, F_VTABLE, F_VTABLE_8) && take(&v->instance_itable, f, F_ITABLE, -1) &&
	       take(&v->instance_oop_maps, f, F_OOP_MAPS, -1) && take(&v->instance_fields, f, F_STREAM, F_FIELDS) &&
	       take(&v->instance_constants, f, F_CONSTANTS, -1) && take(&v->instance_arrays, f, F_ARRAYS, -1) &&
	       take(&v->array_higher, f, F_HIGHER, -1) && take(&v->bytes_data, f, F_BYTES, -1) &&
	       take(&v->shorts_data, f, F_SHORTS, -1) && take(&v->pool_cache, f, F_POOL_CACHE, -1) &&
	       take(&v->resolved, f, F_RESOLVED, F_RESOLVED_8) && take(&v->loader_data_loader, f, F_LOADER, -1);
}

static bool heap_find(struct vm *v, const struct vm_field *f)
{
	uint64_t heap = f[F_HEAP].found ? copy_word(v->copy, f[F_HEAP].address) : 0, words;

	if (!heap || !f[F_RESERVED].found || !f[F_REGION_START].found || !f[F_REGION_WORDS].found)
		return false;
	v->heap_low = copy_word(v->copy, heap + f[F_RESERVED].offset + f[F_REGION_START].offset);
	words = copy_word(v->copy, heap + f[F_RESERVED].offset + f[F_REGION_WORDS].offset);
	v->heap_high = v->heap_low + words * 8;
	return v->heap_low && words && words <= HEAP_BYTES_MAX / 8 && v->heap_high <= ADDRESS_END && !(v->heap_low & 7);
}

static bool statics_find(struct vm *v, const struct vm_field *f)
{
	const struct vm_field *symbols = f[F_SYMBOLS].found ? &f[F_SYMBOLS] : &f[F_SYMBOLS_OLD];

	v->symbols = symbols->found ? symbols->address : 0;
	v->class_klass = f[F_CLASS_KLASS].found ? copy_int(v->copy, f[F_CLASS_KLASS].address) : 0;
	v->class_words = f[F_CLASS_WORDS].found ? copy_int(v->copy, f[F_CLASS_WORDS].address) : 0;
	return v->class_klass && v->class_klass < UINT16_MAX && heap_find(v, f);
}

int vm_open(struct vm *v, const struct copy *copy, const struct braid_heap_roots *roots, const uint64_t at[VM_SYMBOLS])
{
	struct vm_type instance = {.name = "InstanceKlass"};
	struct vm_field f[FIELDS];
	int err;

	*v = (struct vm){.copy = copy, .layout = roots->layout, .names = roots->names};
	if (!(v->layout.objects.flags & BRAID_OBJECTS_THREADS) || !(v->layout.flags & BRAID_LAYOUT_NAMES) ||
	    v->layout.objects.oops > BRAID_OOPS_COMPRESSED || v->layout.objects.klasses > BRAID_KLASSES_COMPACT ||
	    v->layout.objects.oop_shift > 8 || v->layout.objects.klass_shift > 31)
		return -ENOENT;
	memcpy(f, fields, sizeof(f));
	err = vm_process_read(copy->pid, v->layout.libjvm_base, at, f, FIELDS, &instance, 1);
	if (err)
		return err;
	v->field_stream = f[F_STREAM].found;
	v->handles = f[F_RESOLVED].found;
	v->instance_size = (uint16_t)instance.size;
	v->hash_shift = f[F_OWNER_ID].found ? 11 : 8;
	v->header = v->layout.objects.klasses == BRAID_KLASSES_COMPACT ? 8 : 16;
	v->array_length = braid_array_length_at(v->layout.objects.klasses);
	if (!v->field_stream && !take(&v->instance_java_fields, f, F_JAVA_FIELDS, -1))
		return -ENOENT;
	return instance.found && instance.size <= UINT16_MAX && klass_take(v, f) && statics_find(v, f) ? 0 : -ENOENT;
}

uint64_t vm_where(const struct vm *v, uint64_t object)
{
	uint64_t mark = object ? copy_word(v->copy, object) : 0, to = mark & ~MARK_MOVED;

	return (mark & MARK_MOVED) == MARK_MOVED && to >= v->heap_low && to < v->heap_high && !(to & 7) ? to : object;
}

uint64_t vm_handle(const struct vm *v, uint64_t at)
{
	uint64_t word = copy_word(v->copy, at);

	return vm_where(v, v->handles && word ? copy_word(v->copy, word) : word);
}
