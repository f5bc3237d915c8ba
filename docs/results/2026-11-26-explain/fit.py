"""Fits explain's constants: fit.py DIRECTORY..., each a run of `tare weigh explain`. Needs numpy and scipy.

gf, tf: an instrument's first wait in a statement, without and with thread_instrumentation; n: those behind it; st: a
statement; _c counted, _t timed. What recipe events measured is given beforehand: value, value, half a 95 % interval.
"""
import json,collections,sys
import numpy as np
from scipy.optimize import lsq_linear
dirs=sys.argv[1:]
# priors from recipe events (ns, half width of 95 %)
EV={'mysql 9.7':dict(stage=(0,45.7,19),statement=(87.2,213.9,45),memory=(18.9,33),next=(7.9,57.4,9)),
    'mariadb 11.4':dict(stage=(4.1,36.2,9),statement=(50.6,109.7,60),memory=(14.2,60),next=(13.1,55.5,20)),
    'mariadb 11.8':dict(stage=(4.3,33.4,8),statement=(56.2,127.5,50),memory=(1.5,19),next=(12,45.1,15))}
import json,collections,sys
import numpy as np
from scipy.optimize import lsq_linear
dirs=sys.argv[1:]
# priors from recipe events (ns, half width of 95 %)
EV={'mysql 9.7':dict(stage=(0,45.7,19),statement=(87.2,213.9,45),memory=(18.9,33),next=(7.9,57.4,9)),
    'mariadb 11.4':dict(stage=(4.1,36.2,9),statement=(50.6,109.7,60),memory=(14.2,60),next=(13.1,55.5,20)),
    'mariadb 11.8':dict(stage=(4.3,33.4,8),statement=(56.2,127.5,50),memory=(1.5,19),next=(12,45.1,15))}
names=['gf_c','gf_t','tf_c','tf_t','n_c','n_t','stage_c','stage_t','st_c','st_t','client','digest','mem']
for server in EV:
    A=[];y=[];w=[];lab=[]
    for d in dirs:
        r=json.load(open(d+'/results.json'))
        agg=collections.defaultdict(lambda:collections.defaultdict(float))
        for c in r['cells']:
            k=c['key']
            if k['server']!=server or c['state']!='done' or k['again']: continue
            g=agg[k['workload'],k['configuration']]
            g['tx']+=c['transactions']; g['q']+=c['queries']
            for e in c.get('events') or []:
                g['n:'+e['kind']+':'+e['name']]+=e['count']
                g['p:'+e['kind']+':'+e['name']]+=e['sum_ps']
        for row in r['analysis']['rows']:
            if row['server']!=server or row['again'] or row['configuration']=='off': continue
            base=[b for b in r['analysis']['rows'] if b['server']==server and b['workload']==row['workload'] and b['configuration']=='off' and not b['again']][0]
            us=base['values']['server_cpu']['mean']
            comp=row['comparisons']['server_cpu']['percent']
            g=agg[row['workload'],row['configuration']]
            tx=g['tx']
            sts=sum(v for k,v in g.items() if k.startswith('n:statement:'))or g['q']
            v=dict.fromkeys(names,0.0)
            conf=row['configuration']
            glob=conf.startswith('global')
            for k,n in g.items():
                if not k.startswith('n:'): continue
                _,kind,name=k.split(':',2); timed=g['p'+k[1:]]>0
                n/=tx; 
                if kind in('wait','idle'):
                    f=min(n,sts/tx)
                    p='g' if glob else 't'
                    v[p+('f_t' if timed else 'f_c')]+=f
                    v['n_t' if timed else 'n_c']+=n-f
                elif kind=='transaction':
                    v['tf_t' if timed else 'tf_c']+=n
                elif kind=='stage': v['stage_t' if timed else 'stage_c']+=n
                elif kind=='statement':
                    v['st_t' if timed else 'st_c']+=n
                    if '/sp/' not in name: v['client']+=n
                    if name.startswith('statement/sql/') and conf=='timed, digests': v['digest']+=n
                elif kind=='memory': v['mem']+=n
            A.append([v[n] for n in names]); y.append(comp['mean']/100*us*1e3)
            se=max((comp['high']-comp['low'])/4,0.5)/100*us*1e3
            w.append(1/se); lab.append((row['workload'],conf,us))
    A=np.array(A);y=np.array(y);w=np.array(w)
    def prior(name,val,hw):
        global A,y,w
        r=np.zeros(len(names)); r[names.index(name)]=1
        A=np.vstack([A,r]); y=np.append(y,val); w=np.append(w,2/hw)
    e=EV[server]
    prior('stage_c',e['stage'][0],e['stage'][2]);prior('stage_t',e['stage'][1],e['stage'][2])
    prior('st_c',e['statement'][0],e['statement'][2]);prior('st_t',e['statement'][1],e['statement'][2]);prior('mem',*e['memory']);prior('n_c',e['next'][0],e['next'][2]);prior('n_t',e['next'][1],e['next'][2])
    # reparametrise: timed = counted + extra, extras >= 0
    ext={'gf_t':'gf_c','tf_t':'tf_c','n_t':'n_c','stage_t':'stage_c','st_t':'st_c'}
    B=A.copy()
    for t,c in ext.items(): B[:,names.index(c)]+=A[:,names.index(t)]
    res=lsq_linear(B*w[:,None],y*w,bounds=(0,np.inf))
    x=res.x.copy()
    for t,c in ext.items(): x[names.index(t)]+=x[names.index(c)]
    print(server,{n:round(float(v),1) for n,v in zip(names,x)})
    pred=A@x
    for i,(wl,c,us) in enumerate(lab):
        print('   %-22s %-22s pred %5.1f meas %5.1f  err %+.1f  (+-%.1f)'%(wl,c,pred[i]/us/10,y[i]/us/10,(pred[i]-y[i])/us/10,2/w[i]/us/10))

    import math
    errs=[(pred[i]-y[i])/us/10 for i,(wl,c,us) in enumerate(lab)]
    print('   rms %.2f, within 1.5: %d of %d'%(math.sqrt(sum(e*e for e in errs)/len(errs)),sum(abs(e)<=1.5 for e in errs),len(errs)))
