-- What Lua's own machinery is made of: errors that unwind through C, coroutines,
-- metatables, patterns, sorting, closures, collected garbage.
local function show(...)
  local parts = table.pack(...)
  for i = 1, parts.n do
    local part = parts[i]
    parts[i] = math.type(part) == "float" and string.format("%.14g", part) or tostring(part)
  end
  print(table.concat(parts, " "))
end

show(_VERSION, ...)

-- Errors: caught, nested, rethrown, with values, from C, from metamethods, at depth.
show(pcall(error, "plain", 0))
show(pcall(error, { code = 7 }) and "no" or "table thrown")
show(select(2, pcall(function() error({ code = 7 }) end)).code)
show(pcall(function() local x = nil; return x.field end))
show(pcall(string.rep))
show(pcall(string.format, "%d", 1.5))
show(xpcall(function() error("handled") end, function(message) return "handler saw: " .. message end))
show(pcall(pcall))
show(pcall(function() return setmetatable({}, { __index = function(_, key) error("no " .. key, 0) end }).x end))
show(pcall(function() return setmetatable({}, { __add = function() error("adding", 0) end }) + 1 end))
show(pcall(load, function() error("reader", 0) end))
show(load("x ="))
local function nest(n) if n == 0 then error("bottom", 0) end; local ok, e = pcall(nest, n - 1); error(e .. "<", 0) end
show(pcall(nest, 60))
local function overflow(n) return 1 + overflow(n + 1) end
local ok, message = pcall(overflow, 0)
show(ok, (message:match("stack overflow")))
local caught = 0
for i = 1, 20000 do if not pcall(error, i) then caught = caught + 1 end end
show("caught", caught)
do
  local closed = {}
  local function resource(name) return setmetatable({}, { __close = function(_, e) closed[#closed + 1] = name .. ":" .. tostring(e) end }) end
  pcall(function() local a <close> = resource("a"); local b <close> = resource("b"); error("end", 0) end)
  show(table.concat(closed, " "))
end

-- Coroutines: generators, errors across a resume, wrapping, yield inside pcall and metamethods.
local function permutations(list)
  return coroutine.wrap(function()
    local function go(n)
      if n == 0 then coroutine.yield(table.concat(list)) return end
      for i = 1, n do
        list[n], list[i] = list[i], list[n]
        go(n - 1)
        list[n], list[i] = list[i], list[n]
      end
    end
    go(#list)
  end)
end
local seen = {}
for p in permutations({ "a", "b", "c", "d" }) do seen[#seen + 1] = p end
show(#seen, seen[1], seen[24])
local co = coroutine.create(function(a) local b = coroutine.yield(a * 2); error("inside " .. b, 0) end)
show(coroutine.resume(co, 21)); show(coroutine.resume(co, "co")); show(coroutine.status(co), coroutine.resume(co))
co = coroutine.wrap(function() local ok, e = pcall(function() coroutine.yield(1); error("after", 0) end); coroutine.yield(e); return "done" end)
show(co(), co(), co())
co = coroutine.wrap(function() return setmetatable({}, { __lt = function() return coroutine.yield("compared") end }) < {} end)
show(co(), co(true))
do
  local live = {}
  for i = 1, 500 do live[i] = coroutine.wrap(function() local s = 0 while true do s = s + coroutine.yield(s) end end); live[i]() end
  local total = 0
  for round = 1, 20 do for i = 1, 500 do total = total + live[i](i) end end
  show("coroutines", total)
end

-- Strings and patterns.
show(("the lead line"):gsub("%w+", { lead = "gold" }))
show(("key = value ; other=1"):gsub("(%w+)%s*=%s*(%w+)", "%2<-%1"))
show(("[[x]]"):find("[[]", 1), ("a.b"):find(".", 2, true), ("f(a(b)c)d"):match("%b()"), ("THE (quick) fox"):find("%((%a+)%)"))
for word, position in ("six by mark"):gmatch("(%a+)()") do io.write(word, "@", position, " ") end print()
show(string.format("%5.2f|%-6s|%06d|%x|%q|%g|%a", 3.14159, "ab", -42, 255, 'a"\n\0b', 1e20, 0.5))
show(("x"):rep(5, "-"), ("abc"):reverse(), ("abc"):byte(1, -1), ("%d"):rep(2), #("é"), utf8.len("né€𝄞"))
show(string.unpack("<i4>I2z", string.pack("<i4>I2z", -2, 513, "end")))
show(tostring(1e15), 2^53, 10 // 3, -7 // 2, -7 % 3, 7.5 // 2, 1 / 0, -1 / 0, math.maxinteger + 1 == math.mininteger, 3 | 8, ~0 >> 60, "10" + 5)
show(tonumber("0x1p4"), tonumber("  12  "), tonumber("1e1"), tonumber("z", 36), tonumber("9", 8), math.tointeger(3.0), 7 // 0.0)

-- Sorting and tables.
local state = 42
local function random(n) state = (state * 1103515245 + 12345) % 2147483648; return state % n + 1 end
local list = {}
for i = 1, 20000 do list[i] = random(1000000) end
table.sort(list)
local sum = 0
for i = 1, #list do sum = (sum * 31 + list[i]) % 1000000007; if i > 1 then assert(list[i - 1] <= list[i]) end end
show("sorted", list[1], list[#list], sum)
table.sort(list, function(a, b) return a % 1000 < b % 1000 or (a % 1000 == b % 1000 and a < b) end)
show(list[1], list[10000], list[20000], pcall(table.sort, { 3, 1, "x" }))
show(table.concat(table.move({ 1, 2, 3 }, 2, 3, 5, { 9, 9, 9, 9 }), ","), table.unpack({ 1, 2, 3 }, 2), next({}), #{ n = 1, 1, 2 })

-- Classes, closures, integers for keys, weak tables, garbage.
local Point = {}
Point.__index, Point.__eq, Point.__len, Point.__call, Point.__concat, Point.__tostring =
  Point, function(a, b) return a.x == b.x end, function(p) return p.x end, function(p, d) return p.x + d end,
  function(a, b) return tostring(a) .. "&" .. tostring(b) end, function(p) return "P" .. p.x end
local function point(x) return setmetatable({ x = x }, Point) end
show(point(3) == point(3), #point(4), point(5)(2), point(1) .. point(2))
local function counter() local n = 0; return function() n = n + 1; return n end end
local a, b = counter(), counter()
show(a(), a(), b(), a())
local weak = setmetatable({}, { __mode = "v" })
for i = 1, 100 do weak[i] = {} end
collectgarbage()
show("weak", next(weak))
local finalised = 0
for i = 1, 200 do setmetatable({}, { __gc = function() finalised = finalised + 1 end }) end
collectgarbage(); collectgarbage()
show("finalised", finalised)
goto done
show("skipped")
::done::
local primes, sieve = 0, {}
for i = 2, 200000 do if not sieve[i] then primes = primes + 1; for j = i * i, 200000, i do sieve[j] = true end end end
show("primes", primes)
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
show("fib", fib(24), debug.traceback("trace", 1):match("^trace\nstack traceback:"))

-- Files.
local file = assert(io.open("lua.txt", "w"))
file:write("one\n", 2, "\n", 3.5, "\n")
file:close()
for line in io.lines("lua.txt") do io.write(line, ";") end print()
file = io.open("lua.txt"); show(file:read("l", "n", "n", "l", "a")); show(file:seek("set", 2), file:read(3)); file:close()
show(os.remove("lua.txt"), (select(2, io.open("lua.txt"))))
show(pcall(io.lines, "missing.txt"))
