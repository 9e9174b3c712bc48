// @wasm-fmt/clang-format: templates, formatted twice.
import { check, hash } from './fixed.mjs';
import { format } from '@wasm-fmt/clang-format';

const source = Array.from({ length: 60 }, (_, i) => `
template<typename T,int N=${i}> struct Box${i}:public Base<T>{T values[N+1];int (*callback)(const T&,int),*next;
  auto sum(const std::vector<std::pair<T,int>>& pairs,bool reversed=false)const->decltype(auto){T total{};
  for(auto&[value,count]:pairs)if(count>N&&value!=T{}||reversed)total+=value*count;else switch(count){case 0:break;
  default:total-=value;}return std::accumulate(std::begin(values),std::end(values),total,[](T a,T b){return a+b;});}};
`).join('');
const text = format(source, 'boxes.cc', 'LLVM');
check(text.split('\n').length > 900 && format(text, 'boxes.cc', 'LLVM') === text, 'formatted for good');
console.log(text.length, hash(text));
