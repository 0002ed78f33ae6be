# SPDX-License-Identifier: Apache-2.0
# JIT churn: generated classes/methods, define_method, string/hash/regex work, deep recursion
def fib(n) n < 2 ? n : fib(n-1) + fib(n-2) end
def deep(n) n == 0 ? 0 : 1 + deep(n-1) end
t=Time.now
n=(ARGV[0]||300).to_i
sum=0
n.times do |i|
  c=eval("Class.new { def initialize(x) @x=x end; def m#{i}(y) (@x*y+#{i})%9973 end; define_method(:d#{i}) { |z| m#{i}(z)+#{i} } }")
  o=c.new(i); 3000.times { |k| sum += o.send("d#{i}", k) }
  h=Hash.new(0); ("the quick brown fox "*50).scan(/\w+/) { |w| h[w]+=1 }; sum+=h.size
  sum += deep(1500)
end
puts "#{sum} #{fib(30)} #{Time.now-t}s"
