// prqlc: twelve queries to SQL.
import { check, hash } from './fixed.mjs';
import prqlc from 'prqlc';

const query = (i) => `
from employees
filter start_date > @2021-01-0${1 + (i % 9)}
derive { gross_salary = salary + (tax ?? ${i}), gross_cost = gross_salary + benefits_cost }
filter gross_cost > ${i * 10}
join side:left departments (==department_id)
group { employees.title, employees.country } (
  aggregate { average gross_salary, sum_gross_cost = sum gross_cost, ct = count this }
)
filter sum_gross_cost > 100_000
derive id = f"{title}_{country}"
sort { sum_gross_cost, -ct }
take 1..${20 + i}
`;
const options = new prqlc.CompileOptions();
options.target = 'sql.postgres';
options.signature_comment = false;
const sql = Array.from({ length: 12 }, (_, i) => prqlc.compile(query(i), options));
check(sql.every((text) => /GROUP BY/.test(text)), 'groups');
console.log(sql.length, hash(sql.join()));
