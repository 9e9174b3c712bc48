// @wasm-fmt/gofmt: a Go file, formatted twice.
import { check, hash } from './fixed.mjs';
import { format } from '@wasm-fmt/gofmt';

const source = `package boxes\nimport "fmt"\n${Array.from({ length: 400 }, (_, i) => `
type Box${i} struct{Values []int;Name string;next *Box${i}}
func (b *Box${i}) Sum(limit int,rest ...int)(total int,err error){
for i,v:=range b.Values{if v>limit&&i%2==0||v<0{total+=v*${i}}else{switch{case v==1:continue;default:total--}}}
return total,fmt.Errorf("%s: %d",b.Name,limit)}
`).join('')}`;
const text = format(source);
check(text.includes('\tValues []int\n') && format(text) === text, 'formatted for good');
console.log(text.length, hash(text));
