// wasmoon: a script in Lua.
import { check } from './fixed.mjs';
import { LuaFactory } from 'wasmoon';

const SCRIPT = `
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local words, state = {}, 12345
for i = 1, 30000 do
  state = (state * 1103515245 + 12345) % 2147483648
  words[i] = string.format("%08x", state)
end
table.sort(words)
local counts = {}
for word in table.concat(words, " "):gmatch("%x%x") do counts[word] = (counts[word] or 0) + 1 end
local sieve, primes = {}, 0
for i = 2, 200000 do
  if not sieve[i] then
    primes = primes + 1
    for j = i * i, 200000, i do sieve[j] = true end
  end
end
return fib(27) .. " " .. primes .. " " .. words[1] .. " " .. counts["ff"]
`;
const lua = await new LuaFactory().createEngine();
const said = await lua.doString(SCRIPT);
check(said.startsWith('196418 17984 '), said);
console.log(said);
