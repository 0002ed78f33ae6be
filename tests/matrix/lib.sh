# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What tests/matrix/run and report share: the list of cells, and a cell's result. A result is a file of `key=value`
# lines named JDK-MODE-GC (or kernel-VERSION) in $RESULTS; a cell with a result is finished.
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=$(readlink -f "$HERE/../..")
BUILD=$(readlink -f "${BUILD:-$ROOT/build}")
RESULTS=$BUILD/matrix/results
CLASSES=$BUILD/matrix/java

ALL_JDKS=(8 11 17 21 25 26 27)
ALL_MODES=(default int c1 c2 fp noagent)
ALL_GCS=(serial parallel cms g1 z genz shenandoah genshenandoah)
ALL_KERNELS=(6.1 6.12 sid)
WANTED=99.5

die()
{
	echo "matrix: $*" >&2
	exit 1
}

mode_options()
{
	case $1 in
	default | noagent) ;;
	int) echo -Xint ;;
	c1) echo -XX:TieredStopAtLevel=1 ;;
	c2) echo -XX:-TieredCompilation ;;
	fp) echo -XX:+PreserveFramePointer ;;
	*) die "no mode '$1'; there are: ${ALL_MODES[*]}" ;;
	esac
}

mode_title()
{
	case $1 in
	default) echo default ;;
	int) echo interpreter only ;;
	c1) echo C1 only ;;
	c2) echo C2 only ;;
	fp) echo PreserveFramePointer ;;
	noagent) echo without the agent ;;
	esac
}

# gc_options JDK GC: fails when that JDK never had it; a build may still lack it.
gc_options()
{
	local jdk=$1 unlock=-XX:+UnlockExperimentalVMOptions

	case $2 in
	serial) echo -XX:+UseSerialGC ;;
	parallel) echo -XX:+UseParallelGC ;;
	cms) [[ $jdk -lt 14 ]] && echo -XX:+UseConcMarkSweepGC ;;
	g1) echo -XX:+UseG1GC ;;
	z) [[ $jdk -ge 11 && $jdk -lt 23 ]] && echo "$unlock -XX:+UseZGC" ;;
	genz) # the only one from 23 on
		if [[ $jdk -ge 23 ]]; then
			echo -XX:+UseZGC
		else
			[[ $jdk -ge 21 ]] && echo "-XX:+UseZGC -XX:+ZGenerational"
		fi
		;;
	shenandoah) echo "$unlock -XX:+UseShenandoahGC" ;;
	genshenandoah) [[ $jdk -ge 24 ]] && echo "$unlock -XX:+UseShenandoahGC -XX:ShenandoahGCMode=generational" ;;
	*) die "no collector '$2'; there are: ${ALL_GCS[*]}" ;;
	esac
}

gc_title()
{
	case $1 in
	serial) echo Serial ;;
	parallel) echo Parallel ;;
	cms) echo CMS ;;
	g1) echo G1 ;;
	z) echo Z ;;
	genz) echo generational Z ;;
	shenandoah) echo Shenandoah ;;
	genshenandoah) echo gen. Shenandoah ;;
	esac
}

kernel_title()
{
	local title=$1

	[[ $1 != sid ]] || title=newest
	echo "$title"
}

# result FILE KEY
result()
{
	sed -n "s/^$2=//p" "$1"
}

# passed FILE: whether the cell is finished and without faults
passed()
{
	[[ -e $1 && $(result "$1" verdict) == pass ]]
}
